import { isMap, type JsonMap } from '../judge/answer.js';
import type { Random } from './random.js';

const STRANGERS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  '',
  'text',
  'x'.repeat(100_000),
  [],
  [[]],
  {},
  { a: { b: { c: {} } } },
];
const DEEP = 200;

/** An input that was allowed, with something in it that clients should not send, and do. */
export function spoil(input: JsonMap, random: Random): JsonMap {
  const names = Object.keys(input);
  const ways: (() => JsonMap)[] = [
    () => ({ ...input, [random.pick(['extra', '__proto__x', '', 'toString'])]: random.pick(STRANGERS) }),
  ];
  if (names.length > 0) {
    const name = random.pick(names);
    const { [name]: _, ...without } = input;
    ways.push(
      () => without,
      () => ({ ...input, [name]: random.pick(STRANGERS) }),
      () => ({ ...input, [name]: random.pick(STRANGERS) }),
      () => ({ ...input, [name]: [input[name]] }),
      () => ({ ...input, [name]: { value: input[name] } }),
      () => ({ ...input, [name]: nested(DEEP) }),
    );
    if (isMap(input[name])) ways.push(() => ({ ...input, [name]: spoil(input[name] as JsonMap, random) }));
  }
  return random.pick(ways)();
}

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}
