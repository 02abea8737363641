import { dirname, join, resolve } from 'node:path';
import { Pungi } from '@pungi/core';
import { PungiError, silentLogger } from '@pungi/core/base';
import type { Config, OptionName } from '@pungi/core/config';
import { CLI, type Outcome, type RequestedLimits, type RunRequest } from '@pungi/core/contract';
import { LimitRules, pointToFiles } from '@pungi/core/gate';
import { Command, Option } from 'commander';
import { onInterrupt, openLog } from './act.js';
import { addConfigFlags, parserOf, readConfig } from './config-flags.js';
import { prepareFolder, saveDisplays } from './display-files.js';
import { EXIT_CODES_HELP, exitCodeOf, exitCodeOfError } from './exit-codes.js';
import { readContext, readInput, readInputFile, readSource } from './run-input.js';
import { LiveOutput, printEnding, printJson } from './run-output.js';
import { reportSteps } from './terminal.js';

const ENVIRONMENTS = [
  'venvsBasePath',
  'defaultVenvName',
  'autoInstall',
  'packageTimeoutMs',
  'packageSources',
  'uv',
] as const;
const PROFILES = ['profilesFile', 'defaultProfile', 'allowedProfiles'] as const;
const AUDIT = ['audit', 'auditDir', 'auditSync', 'auditStoreCode'] as const;
const LIMITS = [
  'maxRequestTimeoutMs',
  'maxRequestMemoryMb',
  'maxRequestDiskMb',
  'maxRequestProcesses',
  'maxCpuMs',
  'maxProcesses',
  'maxOpenFiles',
  'maxDiskMb',
  'maxOutputBytes',
  'maxOutputHardBytes',
] as const;
const SETTINGS: readonly OptionName[] = [
  'python',
  'tier',
  'allowUnsandboxed',
  'preloadModules',
  ...ENVIRONMENTS,
  ...PROFILES,
  ...LIMITS,
  'cacheDir',
  ...AUDIT,
  'logLevel',
  'logFormat',
  'logFile',
];

const HELP = `
Output appears as the script produces it; the value of the last expression follows, as in a
notebook. With --json the outcome is the only thing on standard output:
{"verdict": …, "stdout": …, "value": …, "usage": …}, or
{"error": {"code", "message", "details"}} if nothing was run.
Piped text is the script's standard input, which always ends.
What the script shows (plt.show(), display(frame)) is saved with --out DIR: figure-1.png …
A script that names its packages in a "# /// script" block (PEP 723) runs in an environment created
for them: the first run reports the steps on standard error, and "usage.installMs" is their time.
A profile (see: pungi profile) adds rules. If it discloses what was done, the disclosure is printed
at the end, on standard error.
${EXIT_CODES_HELP}

Examples:
  pungi run script.py -- --verbose data.csv
  pungi run -c 'sum(range(10))'
  cat numbers.txt | pungi run -c 'import sys; print(sum(map(int, sys.stdin)))'
  pungi run --env ml report.py
  pungi run --profile diego roi.py --context '{"rate": 0.08}' --capability roi_calculations
  pungi run plot.py --out figures
  pungi run plot.py --file sales.csv=/data/2026/sales.csv --timeout 5000 --json`;

interface Parsed extends Record<string, unknown> {
  code?: string;
  env?: string;
  profile?: string;
  context?: string;
  capability?: string;
  stdin?: string;
  file: string[];
  json?: boolean;
  out?: string;
  timeout?: number;
  memory?: number;
  disk?: number;
  processes?: number;
  maxCpuMs?: string;
}

export function runCommand(end: (status: number) => void): Command {
  const command = new Command('run')
    .description('run a Python file, standard input, or code, in the sandbox')
    .usage('[options] <FILE | - | -c CODE> [-- args…]')
    .argument('[operands...]', 'the file ("-" for standard input), then the arguments the script sees')
    .option('-c, --code <code>', 'the code itself')
    .option('-e, --env <name>', 'the environment to run in (see: pungi env)')
    .option('-p, --profile <name>', 'the profile to run under (see: pungi profile)')
    .option('--context <json|@file>', 'JSON that the code sees as `context`, or a file with it')
    .option('--capability <name>', 'what the run is for, as recorded in the disclosure and the audit trail')
    .option(
      '--stdin <text|@file>',
      'text on the script’s standard input, or a file with it (@@ for a literal @)',
    )
    .option('--file <name=path>', 'copy this file into the work folder; may be repeated', collect, [])
    .addOption(
      new Option('--timeout <ms>', 'end the run after this time').argParser(parserOf('executionTimeoutMs')),
    )
    .addOption(new Option('--memory <mb>', 'memory the run may use').argParser(parserOf('maxMemoryMb')))
    .addOption(new Option('--disk <mb>', 'disk the run may use').argParser(parserOf('maxDiskMb')))
    .addOption(
      new Option('--processes <number>', 'processes and threads the run may have').argParser(
        parserOf('maxProcesses'),
      ),
    )
    .option('--out <dir>', 'save pictures, HTML and data that the script shows as files in this folder')
    .option('--json', 'print the outcome as JSON, and nothing else');
  addConfigFlags(command, SETTINGS).addHelpText('after', HELP);
  return command.action(async (operands: string[], parsed: Parsed) => end(await run(operands, parsed)));
}

/** The file name as the user wrote it. */
const filenameOf = ([file = '-']: readonly string[], { code }: Parsed) =>
  code !== undefined ? '<code>' : file === '-' ? '<stdin>' : file;

const cancelled = () => new PungiError('CANCELLED', 'The run was cancelled.');
const collect = (value: string, earlier: string[]) => [...earlier, value];

async function run(operands: string[], parsed: Parsed): Promise<number> {
  const cancel = new AbortController();
  const stopListening = onInterrupt(() => cancel.abort(cancelled()));
  // Without a reader, such as `head` that has exited, the run is pointless.
  process.stdout.on('error', () => cancel.abort(cancelled()));
  try {
    prepareFolder(parsed.out);
    const outcome = await pointToOwn(await executed(operands, parsed, cancel.signal), operands, parsed);
    if (parsed.json) printJson(outcome);
    else printEnding(outcome, filenameOf(operands, parsed));
    if (!parsed.json || parsed.out !== undefined) saveDisplays(outcome, parsed.out);
    return exitCodeOf(outcome.verdict);
  } catch (thrown) {
    if (!parsed.json) throw thrown;
    const error = PungiError.from(thrown);
    printJson({ error });
    return exitCodeOfError(error);
  } finally {
    stopListening();
  }
}

/** Adds a hint if a failed import names a file of the user. */
async function pointToOwn(
  outcome: Outcome,
  [file = '-']: readonly string[],
  { code }: Parsed,
): Promise<Outcome> {
  if (code !== undefined || file === '-') return outcome;
  const folder = dirname(file);
  const passFile = (path: string) =>
    `pass it with --file ${folder === '.' ? path : `${path}=${join(folder, path)}`}`;
  return pointToFiles(outcome, { file: resolve(file), roots: [folder], data: [] }, passFile);
}

async function executed(operands: string[], parsed: Parsed, signal: AbortSignal): Promise<Outcome> {
  const config = configFor(parsed);
  const source = await readSource(operands, parsed.code, signal);
  const stdin = await readInput(parsed.stdin, source.fromStdin, signal);
  const { code, filename, argv } = source;
  const files = parsed.file.map(readInputFile);
  const request: RunRequest = { code, argv, files, limits: limitsIn(parsed) };
  if (filename !== undefined) request.filename = filename;
  if (stdin !== undefined) request.stdin = stdin;
  if (parsed.env !== undefined) request.venvName = parsed.env;
  if (parsed.profile !== undefined) request.profile = parsed.profile;
  if (parsed.context !== undefined) request.context = readContext(parsed.context);
  if (parsed.capability !== undefined) request.capability = parsed.capability;
  const steps = reportSteps({ prefix: 'pungi: ', quiet: parsed.json ?? false });
  const pungi = Pungi.start(config, config.logFile === undefined ? silentLogger : openLog(config), 'command');
  try {
    await pungi.ready();
    const { onStep } = steps;
    if (parsed.json) return await pungi.run(request, { signal, onStep, caller: CLI });
    const live = new LiveOutput(() => steps.clear());
    const onStepBetween = (message: string) => {
      live.restart();
      onStep(message);
    };
    const outcome = await pungi.run(request, {
      signal,
      caller: CLI,
      onStep: onStepBetween,
      onLine: live.onLine,
    });
    live.finish(outcome);
    return outcome;
  } finally {
    steps.clear();
    await pungi.close();
  }
}

function limitsIn({ timeout, memory, disk, processes, maxCpuMs }: Parsed): RequestedLimits {
  return {
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(memory !== undefined && { memoryMb: memory }),
    ...(disk !== undefined && { diskMb: disk }),
    ...(processes !== undefined && { processes }),
    // An explicit CPU time does not grow with the wall time.
    ...(maxCpuMs !== undefined && { cpuMs: Number(maxCpuMs) }),
  };
}

function configFor(parsed: Parsed): Config {
  const config = readConfig(parsed);
  // Streamed output needs no cut in the middle; the hard limit still holds.
  const maxOutputBytes = parsed.json ? config.maxOutputBytes : 2 * config.maxOutputHardBytes;
  // There is one run, so workers are parked with its limits, not with the defaults.
  const { ceilings } = new LimitRules(config);
  const maxMemoryMb = Math.min(parsed.memory ?? config.maxMemoryMb, ceilings.memoryMb);
  const maxDiskMb = Math.min(parsed.disk ?? config.maxDiskMb, ceilings.diskMb);
  return { ...config, maxMemoryMb, maxDiskMb, maxOutputBytes, poolSize: 1, maxConcurrentExecutions: 1 };
}
