import type { ToolSpec } from '@pungi/core/contract';
import { isRecord, type JsonSchema, targetOf } from '../schema/parameters.js';
import type { ToolFault } from './wrapped-script.js';

const MOST_BYTES = 256 * 1024;
/** Each takes up to half a millisecond, and nobody is served meanwhile; clients compile it as well. */
const MOST_SCHEMAS = 1000;
/** Of all tools of a script together. */
const MOST_IN_ALL = 20_000;

/** What a script may offer: it must not push the tools of all others out of the list. */
const MOST_TOOLS = 200;

/**
 * Clients compile what is advertised, and one schema that cannot be compiled would cost some of them the whole list.
 * So each is compiled here first, by the validator of the protocol's own library. Tools that are too many are none.
 */
export async function schemaFaults(tools: readonly ToolSpec[]): Promise<ToolFault[]> {
  const shown = tools.filter(({ hidden }) => hidden !== true);
  if (shown.length === 0) return [];
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/server/validators/ajv');
  const examined = new Examined(new AjvJsonSchemaValidator());
  const faults: ToolFault[] = shown.slice(MOST_TOOLS).map(({ name }) => ({
    tool: name,
    problem: `a script offers ${MOST_TOOLS} tools at most, and this one has ${shown.length}; hide some, or choose functions`,
    isLeftOut: true,
  }));
  for (const { name, inputSchema, outputSchema } of shown.slice(0, MOST_TOOLS)) {
    const input = examined.faultOf(inputSchema);
    const output = outputSchema === null ? null : examined.faultOf(outputSchema);
    if (input !== null) faults.push({ tool: name, problem: `its inputSchema ${input}`, isLeftOut: true });
    if (output !== null) faults.push({ tool: name, problem: `its outputSchema ${output}`, isLeftOut: false });
    // Compiling takes a millisecond each, and nobody else would get a word in.
    await new Promise(setImmediate);
  }
  return faults;
}

/** Many tools have the same schema. */
class Examined {
  readonly #known = new Map<string, string | null>();
  #cost = 0;

  constructor(private readonly validator: { getValidator(schema: never): unknown }) {}

  faultOf(schema: object): string | null {
    try {
      const text = JSON.stringify(schema);
      if (Buffer.byteLength(text) > MOST_BYTES) return `is larger than ${MOST_BYTES} bytes`;
      const known = this.#known.get(text);
      if (known !== undefined) return known;
      const fault = this.#examine(text);
      this.#known.set(text, fault);
      return fault;
    } catch (error) {
      return `is no schema: ${(error as Error).message.split('\n', 1)[0]}`;
    }
  }

  #examine(text: string): string | null {
    const copy = JSON.parse(text, withoutFormat) as JsonSchema;
    if (copy['type'] !== 'object') return 'has no object at its root';
    if ('$id' in copy) return 'has an $id, which other schemas could have as well';
    const cost = schemaCost(copy);
    if (cost > MOST_SCHEMAS)
      return `is too much to check: with what it refers to, it is more than ${MOST_SCHEMAS} schemas`;
    this.#cost += cost;
    if (this.#cost > MOST_IN_ALL)
      return `is too much to check: those before it hold ${MOST_IN_ALL} schemas already`;
    this.validator.getValidator(copy as never);
    return null;
  }
}

/** Formats that it does not know are none of its business, but it would say so on standard error. */
const withoutFormat = (key: string, value: unknown) =>
  key === 'format' && typeof value === 'string' ? undefined : value;

/** Names and values of a list are cheap to compile, but not free. */
const CHEAP = 1 / 20;

/**
 * What it costs to compile a schema, in schemas: those that it holds, and those that it refers to, each as often as it does,
 * since validators put them in the place of the reference.
 */
function schemaCost(root: JsonSchema): number {
  const own = sizeOf(root);
  const targets = new Map<string, number>();
  const referred = (reference: string) => {
    const known = targets.get(reference);
    if (known !== undefined) return known;
    const target = targetOf(root, reference);
    // A reference that is not understood here could mean anything.
    const size = isRecord(target) ? sizeOf(target) : own;
    targets.set(reference, size);
    return size;
  };
  return own + sumOf(root, (key, value) => (isReference(key, value) ? referred(value) : 0));
}

const sizeOf = (schema: unknown) =>
  sumOf(schema, (_, value) => (typeof value === 'boolean' || isRecord(value) ? 1 : CHEAP));

const isReference = (key: string, value: unknown): value is string =>
  typeof value === 'string' && /^\$(dynamic|recursive)?Ref$/i.test(key);

/** Of everything in it, without going down with it, however deep it is. */
function sumOf(root: unknown, costOf: (key: string, value: unknown) => number): number {
  let sum = 0;
  const open: unknown[] = [root];
  while (open.length > 0) {
    for (const [key, value] of Object.entries(open.pop() as object)) {
      sum += costOf(key, value);
      if (typeof value === 'object' && value !== null) open.push(value);
    }
  }
  return sum;
}
