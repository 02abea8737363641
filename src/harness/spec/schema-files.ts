import { dirname, resolve } from 'node:path';
import { isMap } from '../judge/answer.js';
import { type JsonSchema, type NamedSchema, schemaProblem } from '../judge/schema.js';
import type { SpecFault, SpecPath } from './fault.js';
import { parseSource, readBounded, type Source } from './source.js';

/** The JSON Schemas that specifications name by file, each read once. */
export class SchemaFiles {
  readonly #read = new Map<string, { schema: JsonSchema } | { problem: string }>();

  /** All that were looked for, whether they are there or not. */
  get files(): string[] {
    return [...this.#read.keys()];
  }

  /** `at` is where the file is named. */
  get(name: string, source: Source, at: SpecPath): { schema: NamedSchema } | { fault: SpecFault } {
    const file = resolve(dirname(source.file), name);
    const known = this.#read.get(file) ?? readSchema(file);
    this.#read.set(file, known);
    if ('problem' in known) return { fault: source.fault(at, `names ${name}, which ${known.problem}`) };
    return { schema: { from: name, schema: known.schema } };
  }
}

function readSchema(file: string): { schema: JsonSchema } | { problem: string } {
  const read = readBounded(file);
  if ('problem' in read) return { problem: `cannot be read: ${read.problem}` };
  const source = parseSource(file, read.text);
  if (Array.isArray(source)) {
    const [{ position, message } = { position: null, message: '' }] = source;
    return { problem: `cannot be used: ${message}${position === null ? '' : `, in line ${position.line}`}` };
  }
  const { data } = source;
  if (typeof data !== 'boolean' && !isMap(data)) return { problem: 'is not a JSON Schema: it must be a map' };
  const problem = schemaProblem(data);
  return problem === undefined ? { schema: data } : { problem };
}
