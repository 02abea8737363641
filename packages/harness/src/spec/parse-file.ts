import { dirname, resolve } from 'node:path';
import { type ServerUnderTest, TestSpecification } from '@pungi/core/contract';
import { isMap, type JsonMap } from '../judge/answer.js';
import { type JsonSchema, type NamedSchema, schemaProblem } from '../judge/schema.js';
import { stepFaults } from './check-test.js';
import { parseSource, readText, type Source, type SpecFault, type SpecPath } from './fault.js';
import { errorTests, mapOf, withoutTests } from './raw.js';
import { parseShape } from './shape.js';

import { type Scope, substitute, TooMuchText } from './substitute.js';
import { type Known, scopeOf, unknownReferences, variableFaults } from './variables.js';

/** Keys with code, definitions of variables, or data of the author. */
const VERBATIM_KEYS = ['validation_scripts', 'script_config', 'variables', 'includes', 'metadata', '$schema'];
/** Names that the harness sets when it starts a server. */
const OF_SERVER: ReadonlySet<string> = new Set(['port']);

const SERVER_TEXTS = [
  'command',
  'args',
  'env',
  'environment',
  'working_dir',
  'working_directory',
  'url',
  'headers',
];

interface ParsedFile {
  /** Undefined if its shape is invalid. */
  specification?: TestSpecification;
  faults: SpecFault[];
  warnings: SpecFault[];
}

/** Parses everything in a file except its tests. */
export function parseFile(source: Source, known: Known, schemas: SchemaFiles): ParsedFile {
  if (source.data === null)
    return {
      faults: [source.fault([], 'the file is empty; "pungi test init" writes a first specification')],
      warnings: [],
    };
  const faults = variableFaults(source, known);
  const value = isMap(source.data) ? replaced(source, known, faults) : source.data;
  const { data, faults: wrong, warnings } = parseShape(TestSpecification, { source, at: [], value });
  // An unknown reference also has the wrong type: one fault is enough.
  const reported = new Set(faults.map(({ path }) => path));
  faults.push(...wrong.filter(({ path }) => !reported.has(path)));
  if (data === undefined) return { faults, warnings };
  faults.push(...stepFaults(source, 'setup', data.setup), ...stepFaults(source, 'cleanup', data.cleanup));
  warnings.push(...unclearErrorTests(source));
  const folder = dirname(source.file);
  const server = data.server && withPresentNames(data.server, source, warnings);
  if (data.script_config?.security?.allow_network === true)
    warnings.push(
      source.fault(
        ['script_config', 'security', 'allow_network'],
        'is not granted: validation scripts have no network',
      ),
    );
  const specification: TestSpecification = {
    ...data,
    tools: data.tools.map((tool, index) => ({
      ...tool,
      ...advertised('input_schema', tool.input_schema, ['tools', index], source, schemas, faults),
      ...advertised('output_schema', tool.output_schema, ['tools', index], source, schemas, faults),
    })),
    ...(server && {
      server: {
        ...server,
        ...(server.working_dir === undefined ? {} : { working_dir: resolve(folder, server.working_dir) }),
      },
    }),
  };
  return { specification, faults, warnings };
}

const unclearErrorTests = (source: Source): SpecFault[] =>
  errorTests(source)
    .filter(({ test }) => test === undefined)
    .map(({ at }) =>
      source.fault(at, 'does not name a tool, so it is not run', {
        suggestion: 'add tool: next to name:',
      }),
    );

const OLDER_NAMES = {
  working_directory: 'working_dir',
  environment: 'env',
  startup_timeout: 'startup_timeout_seconds',
  shutdown_timeout: 'shutdown_timeout_seconds',
} as const;

/** Translates older names of server settings. */
function withPresentNames(server: ServerUnderTest, source: Source, warnings: SpecFault[]): ServerUnderTest {
  const written = mapOf(mapOf(source.data)['server']);
  const present: Record<string, unknown> = { ...server };
  for (const [older, name] of Object.entries(OLDER_NAMES)) {
    const value = present[older];
    delete present[older];
    if (value === undefined) continue;
    if ((written[name] ?? null) === null) present[name] = value;
    else warnings.push(source.fault(['server', older], `is ignored: ${name} is also given`, { atKey: true }));
  }
  return present as ServerUnderTest;
}

function replaced(source: Source, known: Known, faults: SpecFault[]): Record<string, unknown> {
  const scope = scopeOf(known);
  const entries = Object.entries(withoutTests(source.data) as object).map(([key, part]) => {
    if (VERBATIM_KEYS.includes(key) || !Object.hasOwn(TestSpecification.shape, key)) return [key, part];
    const isStep = key === 'setup' || key === 'cleanup';
    const later: ReadonlySet<string> = key === 'server' ? OF_SERVER : isStep ? known.captured : new Set();
    try {
      const isServer = key === 'server' && isMap(part);
      // Checked before the last substitution: after it, an escaped reference looks like a real one.
      const checked = isServer
        ? inServer(part, scope)
        : substitute(part, scope, { isLast: false, later }).value;
      faults.push(...unknownReferences({ source, at: [key], value: checked }, known, later));
      return [key, isServer || isStep ? checked : substitute(part, scope, { isLast: true, later }).value];
    } catch (error) {
      if (!(error instanceof TooMuchText)) throw error;
      faults.push(source.fault([key], error.message));
      return [key, undefined];
    }
  });
  return Object.fromEntries(entries);
}

/** ${port} is substituted when the server starts. */
const inServer = (server: JsonMap, scope: Scope): JsonMap =>
  Object.fromEntries(
    Object.entries(server).map(([key, part]) => {
      const options = { isLast: false, later: OF_SERVER, asText: SERVER_TEXTS.includes(key) };
      return [key, substitute(part, scope, options).value];
    }),
  );

/** The schema that a tool must advertise, read from its file if it has one. */
function advertised(
  key: 'input_schema' | 'output_schema',
  given: string | Record<string, unknown> | undefined,
  at: SpecPath,
  source: Source,
  schemas: SchemaFiles,
  faults: SpecFault[],
): Partial<Record<typeof key, Record<string, unknown>>> {
  if (given === undefined) return {};
  if (typeof given === 'object') {
    const problem = schemaProblem(given);
    if (problem !== undefined) faults.push(source.fault([...at, key], problem));
    return { [key]: given };
  }
  const read = schemas.get(given, source, [...at, key]);
  if ('fault' in read) {
    faults.push(read.fault);
    return {};
  }
  const { schema } = read.schema;
  return { [key]: typeof schema === 'object' ? schema : schema ? {} : { not: {} } };
}

/** The JSON Schemas that specifications name by file, each read once. */
export class SchemaFiles {
  readonly #read = new Map<string, { schema: JsonSchema } | { problem: string }>();

  /** All files that were read or tried. */
  get files(): string[] {
    return [...this.#read.keys()];
  }

  /** `at` is the path that names the file. */
  get(name: string, source: Source, at: SpecPath): { schema: NamedSchema } | { fault: SpecFault } {
    const file = resolve(dirname(source.file), name);
    const known = this.#read.get(file) ?? readSchema(file);
    this.#read.set(file, known);
    if ('problem' in known) return { fault: source.fault(at, `names ${name}, which ${known.problem}`) };
    return { schema: { from: name, schema: known.schema } };
  }
}

function readSchema(file: string): { schema: JsonSchema } | { problem: string } {
  const read = readText(file);
  if ('problem' in read) return { problem: `cannot be read: ${read.problem}` };
  const source = parseSource(file, read.text);
  if (Array.isArray(source)) {
    const [{ position, message } = { position: null, message: '' }] = source;
    return { problem: `cannot be used: ${message}${position === null ? '' : `, in line ${position.line}`}` };
  }
  const { data } = source;
  if (typeof data !== 'boolean' && !isMap(data)) return { problem: 'is not a JSON Schema: expected a map' };
  const problem = schemaProblem(data);
  return problem === undefined ? { schema: data } : { problem };
}
