import { PungiError, revealedLine } from '@pungi/core/base';
import {
  bench,
  exampleInput,
  finishTest,
  isMap,
  isReadOnly,
  type JsonMap,
  type LoadedSpecification,
  type Measured,
  nameOf,
  readOffer,
} from '@pungi/harness';
import type { Answer, CommandContext } from '../act.js';
import { asText, readOwnFile } from '../own-files.js';
import { type Column, tableOf } from '../terminal.js';
import type { BenchFlags } from './flags.js';
import { chooseTools, withServer } from './server.js';

const COLUMNS: readonly Column[] = [
  { heading: 'TOOL' },
  ...['CALLS', 'PER SECOND', 'MEDIAN', '95 %', '99 %', 'MAX', 'ERRORS'].map((heading) => ({
    heading,
    align: 'right' as const,
  })),
];

/** `pungi test bench`. */
export async function benchServer(
  argv: readonly string[],
  flags: BenchFlags,
  context: CommandContext,
): Promise<Answer> {
  const { steps, style, width } = context;
  const given = flags.input === undefined ? undefined : readInput(flags.input);
  if (given !== undefined && flags.tool?.length !== 1)
    throw new PungiError('INVALID_INPUT', '--input needs exactly one --tool.');
  return withServer(argv, flags, context, async (connection, { loaded }) => {
    const { duration: durationMs, concurrency } = flags;
    const options = { durationMs, concurrency, timeoutMs: flags.timeout, signal: steps.signal };
    const offer = await readOffer(connection, options);
    const tested = loaded === undefined ? new Map<string, JsonMap>() : testedInputs(loaded);
    const isHarmless = (tool: JsonMap) =>
      loaded === undefined ? isReadOnly(tool) : tested.has(nameOf(tool));
    const { chosen, leftOut } = chooseTools(offer.tools, flags.tool, isHarmless);
    const measured: Measured[] = [];
    const inputless: string[] = [];
    for (const [index, tool] of chosen.entries()) {
      const name = nameOf(tool);
      const input = given ?? tested.get(name) ?? exampleInput(tool['inputSchema']);
      steps.onStep(`Calling ${name}`, index / chosen.length);
      if (input === undefined) inputless.push(name);
      else measured.push(await bench(connection, name, input, options));
    }
    const notes = [
      ...(leftOut.length === 0 ? [] : [`○ not called (name them with --tool): ${leftOut.join(', ')}`]),
      ...(inputless.length === 0
        ? []
        : [`○ no valid input found for their schemas (use --input): ${inputless.join(', ')}`]),
      ...(measured.some(({ calls, errors }) => errors === calls)
        ? ['! A tool answered only with errors: try another --input.']
        : []),
    ];
    const table = measured.length === 0 ? '' : tableOf(COLUMNS, measured.map(rowOf), { style, width });
    return {
      json: { server: offer.server, concurrency, tools: measured, notCalled: [...leftOut, ...inputless] },
      text: table + notes.map((note) => `${style('yellow', revealedLine(note))}\n`).join(''),
    };
  });
}

const rowOf = ({ tool, calls, errors, perSecond, median, p95, p99, max }: Measured): string[] => [
  revealedLine(tool),
  String(calls),
  perSecond >= 100 ? perSecond.toFixed(0) : perSecond.toFixed(1),
  ...[median, p95, p99, max].map((ms) => `${ms.toFixed(ms < 10 ? 2 : 1)} ms`),
  String(errors),
];

/** The first test input of each tool that expects success and does not depend on other tests. */
function testedInputs({ tests, specification }: LoadedSpecification): Map<string, JsonMap> {
  const found = new Map<string, JsonMap>();
  for (const planned of tests) {
    const { kind, target, skip, dependsOn, row } = planned;
    if (kind !== 'tool' || skip !== undefined || dependsOn.length > 0 || found.has(target)) continue;
    const { value, missing } = finishTest(planned, {
      variables: [row ?? {}, planned.test.variables ?? {}, specification.variables],
      captured: {},
      environment: process.env,
    });
    const { input, expected, cancel_after_ms: cancel, setup } = value.test;
    if (missing.length === 0 && isMap(input) && !expected.error && cancel === undefined && setup.length === 0)
      found.set(target, input);
  }
  return found;
}

function readInput(text: string): JsonMap {
  const json = text.startsWith('@') ? asText(readOwnFile(text.slice(1)), text.slice(1)) : text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new PungiError('INVALID_INPUT', `--input is not valid JSON: ${(error as Error).message}`);
  }
  if (!isMap(value))
    throw new PungiError('INVALID_INPUT', '--input must be an object, such as {"query": "tea"}.');
  return value;
}
