import { nameOf } from '../init/offer.js';
import { allowedBy, exampleInput } from '../inputs/example.js';
import { generate } from '../inputs/generate.js';
import { Random } from '../inputs/random.js';
import { shrink } from '../inputs/shrink.js';
import { spoil } from '../inputs/spoil.js';
import { isMap, type JsonMap } from '../judge/answer.js';
import type { Connection } from '../run/connection.js';
import { type Misdeed, probe } from './probe.js';

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

export interface FuzzOptions {
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
