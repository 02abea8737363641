import type { Failure } from '@pungi/core/contract';
import { verbatim } from '../init/first-spec.js';
import { nameOf } from '../init/offer.js';
import { allowedBy, exampleInput } from '../inputs/example.js';
import { generate, Random } from '../inputs/generate.js';
import { shrink } from '../inputs/shrink.js';
import { isErrorResult, isMap, type JsonMap } from '../judge/answer.js';
import { shown } from '../judge/shown.js';
import { call, requestFor } from '../run/call.js';
import type { Connection, RequestSettings } from '../run/connection.js';
import { ServerFault } from '../run/server-fault.js';

/** A minimized input that the server did not handle. */
export interface Find extends Violation {
  tool: string;
  input: JsonMap;
  /** Whether the tool's own schema allows it. */
  isAllowed: boolean;
}

export interface ToolFuzzed {
  tool: string;
  calls: number;
  /** Calls that were answered with an error, which is a valid answer. */
  refused: number;
  finds: Find[];
}

interface FuzzOptions {
  /** The first server; later ones are started. */
  connection: Connection;
  connect: () => Promise<Connection>;
  seed: number;
  /** Inputs per tool. */
  runs: number;
  timeoutMs: number;
  signal: AbortSignal;
  onCall?: (tool: string, call: number) => void;
}

/** The limit per tool; more are rarely different. */
const MOST_FINDS = 3;
/** A server that must be restarted again and again reveals nothing new. */
const MOST_REPEATS = 5;
const CHANCE_OF_INVALID = 0.4;

/**
 * Calls tools with inputs derived from their schemas and a seed. A server must answer every input in time and by the protocol,
 * and keep running. A server that did not is restarted.
 */
export class Fuzzer {
  readonly #options: FuzzOptions;
  #connection: Connection | undefined;

  constructor(options: FuzzOptions) {
    this.#options = options;
    this.#connection = options.connection;
  }

  async tool(tool: JsonMap): Promise<ToolFuzzed> {
    const { seed, runs, signal, onCall } = this.#options;
    const name = nameOf(tool);
    const schema = isMap(tool['inputSchema']) ? tool['inputSchema'] : {};
    const allows = allowedBy(schema);
    // A seed per tool: findings do not depend on which other tools are tested.
    const random = new Random(seedOf(`${seed} ${name}`));
    const done: ToolFuzzed = { tool: name, calls: 0, refused: 0, finds: [] };
    let repeats = 0;
    for (let run = 0; run < runs && done.finds.length < MOST_FINDS && repeats < MOST_REPEATS; run += 1) {
      signal.throwIfAborted();
      onCall?.(name, run);
      const input = inputFor(schema, run, random);
      const { misdeed, isRefused } = await this.#try(name, input);
      done.calls += 1;
      if (isRefused) done.refused += 1;
      if (misdeed === undefined) continue;
      if (done.finds.some((find) => isLike(find, misdeed))) {
        repeats += 1;
        continue;
      }
      const stillFails = async (smaller: JsonMap) => {
        signal.throwIfAborted();
        // An allowed input must stay allowed, or it would be a different finding.
        if (allows(input) && !allows(smaller)) return false;
        const again = await this.#try(name, smaller);
        return again.misdeed !== undefined && isLike(misdeed, again.misdeed);
      };
      const smallest = await shrink(input, stillFails);
      done.finds.push({ tool: name, input: smallest, isAllowed: allows(smallest), ...misdeed });
    }
    return done;
  }

  async close(): Promise<void> {
    await this.#connection?.close();
    this.#connection = undefined;
  }

  async #try(tool: string, input: JsonMap): Promise<{ misdeed?: Violation | undefined; isRefused: boolean }> {
    const { timeoutMs, signal, connect } = this.#options;
    this.#connection ??= await connect();
    const tried = await probe(this.#connection, tool, input, { timeoutMs, signal });
    if (tried.misdeed !== undefined) await this.close();
    return tried;
  }
}

/** The plain input first, then valid and invalid ones. */
function inputFor(schema: JsonMap, run: number, random: Random): JsonMap {
  const plain = exampleInput(schema) ?? {};
  if (run === 0) return plain;
  const generated = generate({ ...schema, type: 'object' }, random);
  const input = isMap(generated) ? generated : plain;
  return random.isHit(CHANCE_OF_INVALID) ? corrupt(input, random) : input;
}

/** Whether two violations are of the same kind. Times and ids in messages differ. */
const isLike = (one: Violation, other: Violation): boolean =>
  one.kind === other.kind && plain(one.message) === plain(other.message);
const plain = (message: string) => message.replace(/\d+/g, '0').replace(/: [\s\S]*/, '');

function seedOf(text: string): number {
  let seed = 2_166_136_261;
  for (const character of text) seed = Math.imul(seed ^ character.codePointAt(0)!, 16_777_619);
  return seed >>> 0;
}

/** A violation: something that a server must not do for any input. */
interface Violation {
  kind: Failure['kind'];
  message: string;
  /** The end of what the server wrote to stderr during the call. */
  stderr: string;
}

const MOST_STDERR = 2000;
/** HTTP statuses with which a server or a proxy refuses a request: bad, too large, unprocessable. */
const REFUSING_STATUSES = [400, 413, 422];

/** Makes one call: any valid answer is fine. */
async function probe(
  connection: Connection,
  tool: string,
  input: JsonMap,
  settings: RequestSettings,
): Promise<{ misdeed?: Violation; isRefused: boolean }> {
  const mark = connection.stderrMark();
  const oddBefore = connection.traffic.odd;
  const misdeed = (kind: Failure['kind'], message: string): Violation => ({
    kind,
    message,
    stderr: connection.stderrSince(mark).slice(-MOST_STDERR),
  });
  try {
    const { answer, failures } = await call(connection, requestFor('tool', tool, input), settings);
    settings.signal?.throwIfAborted();
    const [failure] = failures;
    const [odd] = connection.traffic.oddities(oddBefore);
    const isRefused = answer.kind === 'error' || isErrorResult(answer);
    if (failure !== undefined) return { misdeed: misdeed(failure.kind, failure.message), isRefused };
    return odd === undefined ? { isRefused } : { misdeed: misdeed('protocol', odd), isRefused };
  } catch (error) {
    if (!(error instanceof ServerFault)) throw error;
    if (REFUSING_STATUSES.includes(error.httpStatus ?? 0)) return { isRefused: true };
    return { misdeed: misdeed(error.kind, error.message), isRefused: false };
  }
}

const UNUSUAL_VALUES: readonly unknown[] = [
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

/** Changes a valid input into one that clients should not send, but do. */
export function corrupt(input: JsonMap, random: Random): JsonMap {
  const names = Object.keys(input);
  const ways: (() => JsonMap)[] = [
    () => ({ ...input, [random.pick(['extra', '__proto__x', '', 'toString'])]: random.pick(UNUSUAL_VALUES) }),
  ];
  if (names.length > 0) {
    const name = random.pick(names);
    const { [name]: _, ...without } = input;
    ways.push(
      () => without,
      () => ({ ...input, [name]: random.pick(UNUSUAL_VALUES) }),
      () => ({ ...input, [name]: random.pick(UNUSUAL_VALUES) }),
      () => ({ ...input, [name]: [input[name]] }),
      () => ({ ...input, [name]: { value: input[name] } }),
      () => ({ ...input, [name]: nested(DEEP) }),
    );
    if (isMap(input[name])) ways.push(() => ({ ...input, [name]: corrupt(input[name] as JsonMap, random) }));
  }
  return random.pick(ways)();
}

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** Writes the findings as tests that fail until they are fixed. */
export function findsSpec(
  finds: readonly Find[],
  { name, server, seed, timeoutMs }: { name: string; server: JsonMap; seed: number; timeoutMs: number },
): JsonMap {
  const tools = [...new Set(finds.map(({ tool }) => tool))];
  return {
    name: verbatim(`${name}: fuzzing findings`),
    description: `Seed ${seed}`,
    server,
    test_config: { timeout_seconds: timeoutMs / 1000, fresh_server: true },
    tools: tools.map((tool) => ({
      name: verbatim(tool),
      tests: finds
        .filter((find) => find.tool === tool)
        .map((find, index) => ({
          name: verbatim(`handles ${shown(find.input)}${index === 0 ? '' : ` (${index + 1})`}`),
          description: verbatim(`Found: ${find.message}`),
          tags: ['fuzz'],
          input: verbatim(find.input),
          // As in fuzzing: the server may refuse the input, but it must answer.
          expected: { error: 'any' },
        })),
    })),
  };
}
