import type { Failure, TestResult, TestSpecification } from '@pungi/core/contract';
import { isMap } from '../judge/answer.js';
import { jsonEqual } from '../judge/diff.js';
import { mismatch } from '../judge/failure.js';
import type { Connection } from './connection.js';
import { explain, ServerFault } from './server-fault.js';
import { blankResult } from './suite.js';

/** A check of the server as a whole, or of something it advertises. */
interface ServerCheck {
  id: string;
  target: string;
  name: string;
  run: (connection: Connection, timeoutMs: number) => Promise<Failure[]>;
}

export function serverChecks(specification: TestSpecification): ServerCheck[] {
  return [
    ...capabilityChecks(specification),
    ...specification.tools.flatMap(toolChecks),
    ...specification.prompts.flatMap(promptChecks),
  ];
}

export async function runCheck(
  { id, target, name, run }: ServerCheck,
  connection: Connection,
  timeoutMs: number,
): Promise<TestResult> {
  const begun = performance.now();
  let failures: Failure[];
  try {
    failures = await run(connection, timeoutMs);
  } catch (error) {
    const found = explain(error, timeoutMs);
    failures = [
      found instanceof ServerFault
        ? found.toFailure()
        : { kind: 'server', message: `Could not query the server: ${(error as Error).message}` },
    ];
  }
  const blank = blankResult({ id, kind: 'server', target, name }, failures.length > 0 ? 'failed' : 'passed');
  return { ...blank, durationMs: performance.now() - begun, attempts: 1, failures };
}

function capabilityChecks({ capabilities = {} }: TestSpecification): ServerCheck[] {
  return Object.entries(capabilities)
    .filter(([, wanted]) => wanted !== undefined)
    .map(([name, wanted]) => ({
      id: `server/capabilities/${name}`,
      target: 'capabilities',
      name,
      run: async (connection) => capabilityFailures(connection, name, wanted),
    }));
}

function capabilityFailures({ client }: Connection, name: string, wanted: unknown): Failure[] {
  const advertised = (client.getServerCapabilities() ?? {}) as Record<string, unknown>;
  const fails = (message: string, expected: unknown, actual: unknown): Failure[] => [
    mismatch(message, expected, actual ?? null, { kind: 'capability' }),
  ];
  // Sampling is a capability of clients: a server cannot advertise it.
  if (name === 'sampling') return [];
  if (isMap(wanted)) {
    const has = advertised[name];
    const lacks = Object.entries(wanted).some(
      ([key, value]) => !isMap(has) || !(key in has) || (value !== true && !jsonEqual(has[key], value)),
    );
    return lacks ? fails(`The server does not advertise ${name} as expected.`, wanted, has) : [];
  }
  const has = advertised[name] !== undefined;
  if (has === wanted) return [];
  const should = wanted === true ? 'should advertise' : 'should not advertise';
  return fails(`The server ${should} ${name}, and ${has ? 'does' : 'does not'}.`, wanted, has);
}

function toolChecks(tool: TestSpecification['tools'][number]): ServerCheck[] {
  const check = (name: 'input_schema' | 'output_schema', key: 'inputSchema' | 'outputSchema') => {
    const wanted = tool[name];
    if (!isMap(wanted)) return [];
    const run: ServerCheck['run'] = async (connection, timeoutMs) => {
      const found = (await connection.advertised(timeoutMs)).get(tool.name);
      if (found === undefined) return [absent('tool', tool.name)];
      if (jsonEqual(plain(found[key]), plain(wanted))) return [];
      const message = `The tool ${tool.name} does not advertise the expected ${name.replace('_', ' ')}.`;
      return [mismatch(message, wanted, found[key] ?? null, { kind: 'schema' })];
    };
    return [{ id: `server/${tool.name}/${name}`, target: tool.name, name, run }];
  };
  return [...check('input_schema', 'inputSchema'), ...check('output_schema', 'outputSchema')];
}

function promptChecks(prompt: TestSpecification['prompts'][number]): ServerCheck[] {
  const { name, arguments: wanted } = prompt;
  if (wanted === undefined) return [];
  const run: ServerCheck['run'] = async ({ client }, timeoutMs) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const { prompts } = await client.listPrompts(undefined, { timeout: timeoutMs, signal });
    const found = prompts.find((one) => one.name === name);
    if (found === undefined) return [absent('prompt', name)];
    const argumentsOf = (list: readonly { name: string; required?: boolean | undefined }[] = []) =>
      Object.fromEntries(list.map((one) => [one.name, one.required === true ? 'required' : 'optional']));
    const [expected, actual] = [argumentsOf(wanted), argumentsOf(found.arguments)];
    if (jsonEqual(expected, actual)) return [];
    const message = `The prompt ${name} does not have the expected arguments.`;
    return [mismatch(message, expected, actual, { kind: 'schema' })];
  };
  return [{ id: `server/${name}/arguments`, target: name, name: 'arguments', run }];
}

const absent = (what: string, name: string): Failure => ({
  kind: 'capability',
  message: `The server has no ${what} ${name}.`,
});

/** Removes the dialect, which does not affect the meaning. */
function plain(schema: unknown): unknown {
  if (!isMap(schema)) return schema;
  const { $schema: _, ...rest } = schema;
  return rest;
}
