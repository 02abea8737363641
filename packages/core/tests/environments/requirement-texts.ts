import fc from 'fast-check';

// Requirements of every form that PEP 508 and PEP 440 allow, spelled in every way that they allow.

const space = fc.constantFrom('', '', ' ', '  ', '\t');
const name = fc
  .stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?$/)
  .filter((text) => !/\.(whl|zip|tar|t.z)/i.test(text));
const number = fc.oneof(fc.nat(20).map(String), fc.constantFrom('00', '007', '99999999999999999999'));
const numbers = (minLength: number) =>
  fc.array(number, { minLength, maxLength: 4 }).map((all) => all.join('.'));
const separator = fc.constantFrom('', '.', '-', '_');
const optional = (arbitrary: fc.Arbitrary<string>) => fc.oneof(fc.constant(''), arbitrary);
export const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((all) => all.join(''));

const pre = joined(
  separator,
  fc.constantFrom('a', 'B', 'rc', 'c', 'alpha', 'Beta', 'pre', 'preview'),
  separator,
  optional(number),
);
const post = fc.oneof(
  joined(fc.constant('-'), number),
  joined(separator, fc.constantFrom('post', 'REV', 'r'), separator, optional(number)),
);
const dev = joined(separator, fc.constant('dev'), separator, optional(number));
const local = fc.constantFrom('+cpu', '+Ubuntu-1', '+1.02_x');
const start = joined(fc.constantFrom('', '', 'v', '1!', 'V0!'));
const version = (minimum = 1) =>
  joined(start, numbers(minimum), optional(pre), optional(post), optional(dev));

export const clause = fc.oneof(
  joined(fc.constantFrom('<', '<=', '>', '>=', '==', '!='), space, version()),
  joined(fc.constantFrom('==', '!='), space, version(), local),
  joined(fc.constantFrom('==', '!='), space, start, numbers(1), fc.constant('.*')),
  joined(fc.constant('~='), space, version(2)),
);
const comma = joined(space, fc.constant(','), space);
export const list = (item: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(item, { minLength: 1, maxLength: 3 }), comma)
    .map(([items, between]) => items.join(between));
const specifier = fc.oneof(
  list(clause),
  joined(fc.constant('('), space, list(clause), space, fc.constant(')')),
  joined(fc.constant('==='), version(), fc.constant(' ')),
);
const extras = joined(fc.constant('['), space, optional(list(name)), space, fc.constant(']'));

const quoted = (text: fc.Arbitrary<string>) =>
  fc.oneof(
    text.map((inner) => `"${inner}"`),
    text.map((inner) => `'${inner}'`),
  );
const equality = fc.constantFrom(' == ', ' != ', '==', ' in ', ' not in ', '>=', ' < ');
const comparison = fc.oneof(
  joined(
    fc.constantFrom('os_name', 'sys_platform', 'platform_machine', 'extra'),
    equality,
    quoted(fc.constantFrom('posix', 'win32', 'x86_64 arm64', 'fast', '')),
  ),
  joined(
    fc.constantFrom('python_version', 'python_full_version', 'implementation_version'),
    fc.constantFrom('<', '>= ', ' ==', '!=', '~='),
    quoted(fc.constantFrom('3.8', '3.12', '3.12.1')),
  ),
  joined(
    quoted(fc.constantFrom('3.8', '3.12')),
    fc.constantFrom(' < ', '>=', ' in '),
    fc.constantFrom('python_version', 'python_full_version'),
  ),
  joined(
    fc.constant('python_version '),
    fc.constantFrom('==', '!='),
    quoted(fc.constantFrom('3.*', '3.12.*')),
  ),
);
const marker = fc.letrec<{ marker: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    comparison,
    joined(fc.constant('('), space, tie('marker'), space, fc.constant(')')),
  ),
  marker: fc
    .tuple(
      fc.array(tie('atom'), { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.constantFrom(' and ', ' or ')),
    )
    .map(([atoms, joints]) => atoms.reduce((text, atom) => `${text}${joints.next().value}${atom}`)),
})).marker;
export const requirement = joined(
  space,
  name,
  space,
  optional(extras),
  space,
  optional(specifier),
  optional(joined(fc.constant(' ;'), space, marker)),
).filter((text) => text.length < 300);
