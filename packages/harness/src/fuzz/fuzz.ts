import type { Failure } from '@pungi/core/contract';
import { nameOf } from '../init/offer.js';
import { verbatim } from '../init/spec-text.js';
import { allowedBy, exampleInput } from '../inputs/example.js';
import { generate, Random } from '../inputs/generate.js';
import { shrink } from '../inputs/shrink.js';
import { isErrorResult, isMap, type JsonMap } from '../judge/answer.js';
import { shown } from '../judge/shown.js';
import { call, requestFor } from '../run/call.js';
import type { Connection, RequestSettings } from '../run/connection.js';
import { ServerFault } from '../run/server-fault.js';

/** An input that the server did not bear, as small as it could be made. */
export interface Find extends Misdeed {
  tool: string;
  input: JsonMap;
  /** Whether the tool's own schema allows it. */
  isAllowed: boolean;
}

export interface ToolFuzzed {
  tool: string;
  calls: number;
  /** Calls that were answered with an error, which is a right answer. */
  refused: number;
  finds: Find[];
}

interface FuzzOptions {
  /** The first server; each one after it is started. */
  connection: Connection;
  connect: () => Promise<Connection>;
  seed: number;
  /** Inputs for each tool. */
  runs: number;
  timeoutMs: number;
  signal: AbortSignal;
  onCall?: (tool: string, call: number) => void;
}

/** Of one tool; more of them are rarely different. */
const MOST_FINDS = 3;
/** A server that is started anew all the time tells nothing new. */
const MOST_REPEATS = 5;
const CHANCE_OF_SPOILT = 0.4;

/**
 * Calls tools with inputs that follow from their schemas and from a seed. Whatever comes, a server must answer, in time and
 * by the protocol, and live on. One that did not is started anew.
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
    // A seed for each tool: what is found does not depend on which others are tested.
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
        // What was allowed stays so, or it would be another find.
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

  async #try(tool: string, input: JsonMap): Promise<{ misdeed?: Misdeed | undefined; isRefused: boolean }> {
    const { timeoutMs, signal, connect } = this.#options;
    this.#connection ??= await connect();
    const tried = await probe(this.#connection, tool, input, { timeoutMs, signal });
    if (tried.misdeed !== undefined) await this.close();
    return tried;
  }
}

/** The plain one first; then such as the schema allows, and such as it does not. */
function inputFor(schema: JsonMap, run: number, random: Random): JsonMap {
  const plain = exampleInput(schema) ?? {};
  if (run === 0) return plain;
  const generated = generate({ ...schema, type: 'object' }, random);
  const input = isMap(generated) ? generated : plain;
  return random.isHit(CHANCE_OF_SPOILT) ? spoil(input, random) : input;
}

/** The same kind of end. Times and ids in sentences differ. */
const isLike = (one: Misdeed, other: Misdeed): boolean =>
  one.kind === other.kind && plain(one.message) === plain(other.message);
const plain = (message: string) => message.replace(/\d+/g, '0').replace(/: [\s\S]*/, '');

function seedOf(text: string): number {
  let seed = 2_166_136_261;
  for (const character of text) seed = Math.imul(seed ^ character.codePointAt(0)!, 16_777_619);
  return seed >>> 0;
}

/** What a server must not do, whatever it is sent. */
interface Misdeed {
  kind: Failure['kind'];
  message: string;
  /** What it wrote to stderr meanwhile, its end. */
  stderr: string;
}

const MOST_STDERR = 2000;
/** By which a server, or what stands before it, refuses what it was sent: bad, too large, not to be processed. */
const REFUSING_STATUSES = [400, 413, 422];

/** One call: any answer is right, as long as it is one. */
async function probe(
  connection: Connection,
  tool: string,
  input: JsonMap,
  settings: RequestSettings,
): Promise<{ misdeed?: Misdeed; isRefused: boolean }> {
  const mark = connection.stderrMark();
  const oddBefore = connection.traffic.odd;
  const misdeed = (kind: Failure['kind'], message: string): Misdeed => ({
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

/** What was found, as tests that fail until it is fixed. */
export function findsSpec(
  finds: readonly Find[],
  { name, server, seed, timeoutMs }: { name: string; server: JsonMap; seed: number; timeoutMs: number },
): JsonMap {
  const tools = [...new Set(finds.map(({ tool }) => tool))];
  return {
    name: verbatim(`${name}: what fuzzing found`),
    description: `Seed ${seed}`,
    server,
    test_config: { timeout_seconds: timeoutMs / 1000, fresh_server: true },
    tools: tools.map((tool) => ({
      name: verbatim(tool),
      tests: finds
        .filter((find) => find.tool === tool)
        .map((find, index) => ({
          name: verbatim(`bears ${shown(find.input)}${index === 0 ? '' : ` (${index + 1})`}`),
          description: verbatim(`It did not: ${find.message}`),
          tags: ['fuzz'],
          input: verbatim(find.input),
          // As in fuzzing: a server may refuse it or not, as long as it answers.
          expected: { error: 'any' },
        })),
    })),
  };
}
