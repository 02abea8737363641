import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { commandArtifactMb, Pungi } from '@pungi/core';
import { PungiError, silentLogger } from '@pungi/core/base';
import type { Config, OptionName } from '@pungi/core/config';
import {
  type ArtifactContent,
  CLI,
  type Outcome,
  type RequestedLimits,
  type RunOptions,
  type RunRequest,
} from '@pungi/core/contract';
import { LimitRules, pointToFiles } from '@pungi/core/gate';
import { type Command, Option } from 'commander';
import { openLog } from './act.js';
import { addConfigFlags, parserOf, readConfig } from './config-flags.js';
import { mentionLost, saveShown } from './display-files.js';
import { EXIT_CODES_HELP, exitCodeOf, exitCodeOfError } from './exit-codes.js';
import { OutFolder } from './out-folder.js';
import { ArgumentsAfterCode, noteUnread } from './run-arguments.js';
import { readContext, readInput, readInputFiles, readSource } from './run-input.js';
import { printEnding, printJson, relayOutput } from './run-output.js';
import { OWN_TERMINAL, reportSteps, type Terminal } from './terminal.js';

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
export const SETTINGS: readonly OptionName[] = [
  'python',
  'tier',
  'allowUnsandboxed',
  'preloadModules',
  ...ENVIRONMENTS,
  ...PROFILES,
  ...LIMITS,
  'cacheDir',
  'shareServer',
  ...AUDIT,
  'logLevel',
  'logFormat',
  'logFile',
];

const HELP = `
Options come before the script; everything after FILE, "-" or -c CODE belongs to the script.
Standard output and standard error are the script's own, byte for byte, as it runs; what Pungi has
to say is on standard error. With -c, the value of the last expression is printed at the end, as in
a notebook. With --json the outcome is the only thing on standard output:
{"verdict": …, "stdout": …, "value": …, "usage": …}, or
{"error": {"code", "message", "details"}} if nothing was run.
What is piped in is the script's standard input, as it reads it.
A script that asks for its folder can import from it and read it, but for hidden files, unless it
is a home folder; relative paths are those of an empty work folder: see --file and --data.
With --out DIR, the files that the script makes or changes are saved, and what it shows
(plt.show(), display(frame)): figure-1.png … Files of the same names are replaced.
A script that names its packages in a "# /// script" block (PEP 723) runs in an environment created
for them; --with adds packages. The first run reports the steps on standard error, and
"usage.installMs" is their time.
A profile (see: pungi profile) adds rules. If it discloses what was done, the disclosure is printed
at the end, on standard error.
${EXIT_CODES_HELP}

Examples:
  pungi run script.py --verbose data.csv
  pungi run -c 'sum(range(10))'
  cat numbers.txt | pungi run -c 'import sys; print(sum(map(int, sys.stdin)))'
  pungi run --env ml report.py
  pungi run --with pandas --with 'numpy>=2' report.py
  pungi run --profile diego --context '{"rate": 0.08}' --capability roi_calculations roi.py
  pungi run --out figures plot.py
  pungi run --file sales.csv=/data/2026/sales.csv --timeout 5000 --json plot.py`;

/** The limits and the data that a command may be given. */
export interface LimitFlags extends Record<string, unknown> {
  data: string[];
  timeout?: number;
  memory?: number;
  disk?: number;
  processes?: number;
  maxCpuMs?: string;
}

export interface ParsedRun extends LimitFlags {
  code?: string;
  env?: string;
  profile?: string;
  context?: string;
  capability?: string;
  stdin?: string;
  file: string[];
  with: string[];
  json?: boolean;
  out?: string;
}

export function runCommand(end: (status: number) => void): Command {
  const command = new ArgumentsAfterCode('run')
    .description('run a Python file, standard input, or code, in the sandbox')
    .usage('[options] <FILE | - | -c CODE> [args…]')
    .argument('[operands...]', 'the file ("-" for standard input), then the arguments the script sees')
    .passThroughOptions()
    .option('-c, --code <code>', 'the code itself; the value of its last expression is printed')
    .option('-e, --env <name>', 'the environment to run in (see: pungi env)')
    .addOption(withOption())
    .option('-p, --profile <name>', 'the profile to run under (see: pungi profile)')
    .option('--context <json|@file>', 'JSON that the code sees as `context`, or a file with it')
    .option('--capability <name>', 'what the run is for, as recorded in the disclosure and the audit trail')
    .option(
      '--stdin <text|@file>',
      'text on the script’s standard input, or a file with it (@@ for a literal @)',
    )
    .option('--file <name=path>', 'copy this file into the work folder; may be repeated', collect, [])
    .option('--data <dir>', 'a folder that the script can read, as data/NAME; may be repeated', collect, []);
  addLimitFlags(command, 'the run')
    .option(
      '--out <dir>',
      'save the files that the script leaves, and the pictures, HTML and data that it shows, in this folder',
    )
    .option('--json', 'print the outcome as JSON, and nothing else');
  addConfigFlags(command, SETTINGS).addHelpText('after', HELP);
  return command.action(async (operands: string[], parsed: ParsedRun) => {
    end(await run(operands, parsed, OWN_PLACE));
    if (!parsed.json) noteUnread(parsed.code, operands, command);
  });
}

/** `who`: what the limits are for. */
export function addLimitFlags(command: Command, who: string): Command {
  const flag = (flags: string, about: string, name: OptionName) =>
    new Option(flags, about).argParser(parserOf(name));
  return command
    .addOption(flag('--timeout <ms>', 'end the run after this time', 'executionTimeoutMs'))
    .addOption(flag('--memory <mb>', `memory ${who} may use`, 'maxMemoryMb'))
    .addOption(flag('--disk <mb>', `disk ${who} may use`, 'maxDiskMb'))
    .addOption(flag('--processes <number>', `processes and threads ${who} may have`, 'maxProcesses'));
}

/** The file name as the user wrote it. */
const filenameOf = ([file = '-']: readonly string[], { code }: ParsedRun) =>
  code !== undefined ? '<code>' : file === '-' ? '<stdin>' : file;

const cancelled = () => new PungiError('CANCELLED', 'The run was cancelled.');
/** `pandas`, or several: `pandas[excel,html]>=2,<3,numpy`. */
const collectPackages = (value: string, earlier: string[]) => [
  ...earlier,
  ...(value.match(/(?:\[[^\]]*\]|[^,[]|\[|,(?!\s*[A-Za-z0-9]))+/g) ?? [value]).map((one) => one.trim()),
];
export const withOption = (): Option =>
  new Option('--with <package>', 'run with this package, in an environment made for it; may be repeated')
    .argParser(collectPackages)
    .default([], 'none')
    .conflicts('env');
export const collect = (value: string, earlier: string[]) => [...earlier, value];

/** Where a command was given, and what does its run: this process, or a server for another one. */
export interface RunPlace {
  terminal: Terminal;
  /** Reads the settings, and returns what runs the code. */
  prepare(parsed: ParsedRun): Execute;
}

export type Execute = (request: RunRequest, options: RunOptions) => Promise<Outcome>;

const OWN_PLACE: RunPlace = { terminal: OWN_TERMINAL, prepare: (parsed) => executeHere(configFor(parsed)) };

/** Resolves to the exit status. Throws what prevents the run, unless that is to be printed as JSON. */
export async function run(operands: string[], parsed: ParsedRun, place: RunPlace): Promise<number> {
  const { terminal } = place;
  const cancel = new AbortController();
  const stopListening = terminal.onInterrupt(() => cancel.abort(cancelled()));
  // Without a reader, such as `head` that has exited, the run is pointless.
  terminal.stdout.on('error', () => cancel.abort(cancelled()));
  try {
    const out = parsed.out === undefined ? undefined : new OutFolder(parsed.out);
    const left: ArtifactContent[] = [];
    const listening = { signal: cancel.signal, onFiles: keepIn(left) };
    const ended = await executed(operands, parsed, listening, place);
    const outcome = await pointToOwn(ended, operands, parsed, terminal);
    if (parsed.json) printJson(outcome, terminal);
    else printEnding(outcome, filenameOf(operands, parsed), terminal);
    if (out !== undefined) saveAll(outcome, left, out);
    else if (!parsed.json) mentionLost(outcome, left, terminal);
    return exitCodeOf(outcome.verdict);
  } catch (thrown) {
    if (!parsed.json) throw thrown;
    const error = PungiError.from(thrown);
    printJson({ error }, terminal);
    return exitCodeOfError(error);
  } finally {
    stopListening();
  }
}

/** Adds a hint if what a run did not find is a file of the user: beside the script, or in the current folder for code without a file. */
async function pointToOwn(
  outcome: Outcome,
  [file = '-']: readonly string[],
  { code }: ParsedRun,
  { at }: Terminal,
): Promise<Outcome> {
  const hasFile = code === undefined && file !== '-';
  const folder = hasFile ? dirname(file) : '.';
  const passFile = (path: string) =>
    `pass it with --file ${folder === '.' ? path : `${path}=${join(folder, path)}`}`;
  return pointToFiles(
    outcome,
    { file: hasFile ? resolve(at(file)) : undefined, roots: [at(folder)], data: [], isShown: false },
    passFile,
  );
}

/** A run is repeated after AUTO_INSTALL: the last one counts. */
const keepIn =
  (left: ArtifactContent[]): NonNullable<RunOptions['onFiles']> =>
  (_, files) =>
    left.splice(0, left.length, ...files);

function saveAll(outcome: Outcome, left: readonly ArtifactContent[], out: OutFolder): void {
  for (const { path, content } of left) out.save(path, content);
  saveShown(outcome, out);
  out.report();
}

async function executed(
  operands: string[],
  parsed: ParsedRun,
  { signal, onFiles }: Required<Pick<RunOptions, 'signal' | 'onFiles'>>,
  { terminal, prepare }: RunPlace,
): Promise<Outcome> {
  const execute = prepare(parsed);
  const source = await readSource(operands, parsed.code, signal, terminal);
  const stdin = readInput(parsed.stdin, source.fromStdin, terminal);
  const { code, filename, argv, folder } = source;
  const { files, large } = readInputFiles(parsed.file);
  const request: RunRequest = { code, argv, files, limits: limitsIn(parsed) };
  // Plain Python shows no value of a script.
  if (!parsed.json && parsed.code === undefined) request.value = false;
  if (filename !== undefined) request.filename = filename;
  if (stdin.text !== undefined) request.stdin = stdin.text;
  if (parsed.env !== undefined) request.venvName = parsed.env;
  if (parsed.with.length > 0) request.packages = parsed.with;
  if (parsed.profile !== undefined) request.profile = parsed.profile;
  if (parsed.context !== undefined) request.context = readContext(parsed.context);
  if (parsed.capability !== undefined) request.capability = parsed.capability;
  const steps = reportSteps({ prefix: 'pungi: ', quiet: parsed.json ?? false }, terminal.stderr);
  try {
    const local = { ...(folder !== undefined && { scriptFolder: folder }), ...stdin.local, files: large };
    const options = { signal, local, onFiles, onStep: steps.onStep, caller: CLI };
    if (parsed.json) return await execute(request, options);
    return await execute(request, { ...options, onOutput: relayOutput(() => steps.clear(), terminal) });
  } finally {
    steps.clear();
  }
}

/** Runs the code in a Pungi of its own. */
const executeHere =
  (config: Config): Execute =>
  async (request, options) => {
    const pungi = Pungi.start(
      config,
      config.logFile === undefined ? silentLogger : openLog(config),
      'command',
    );
    try {
      const ready = pungi.ready();
      ready.catch(() => {}); // awaited below
      // The interpreter's answer is read first: the audit trail is opened while the worker starts. The run reports what is wrong with it.
      await setImmediate();
      pungi.auditReady().catch(() => {});
      await ready;
      return await pungi.run(request, options);
    } finally {
      await pungi.close();
    }
  };

export function limitsIn({ timeout, memory, disk, processes, maxCpuMs }: LimitFlags): RequestedLimits {
  return {
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(memory !== undefined && { memoryMb: memory }),
    ...(disk !== undefined && { diskMb: disk }),
    ...(processes !== undefined && { processes }),
    // An explicit CPU time does not grow with the wall time.
    ...(maxCpuMs !== undefined && { cpuMs: Number(maxCpuMs) }),
  };
}

/** Checked here, so that the sentence names the option. */
function dataFolder(given: string): string {
  const refuse = (why: string) => new PungiError('INVALID_INPUT', `--data ${given}: ${why}`);
  if (!statSync(given, { throwIfNoEntry: false })?.isDirectory()) throw refuse('there is no such folder.');
  if (resolve(given) === '/') throw refuse('this is the whole machine; name a folder below it.');
  try {
    accessSync(given, constants.R_OK | constants.X_OK);
  } catch {
    throw refuse('the folder cannot be read; change its rights, or name another one.');
  }
  return given;
}

export function configFor(parsed: LimitFlags & { json?: boolean }): Config {
  const config = readConfig(parsed);
  // There is one run, so workers are parked with its limits, not with the defaults.
  const { ceilings } = new LimitRules(config);
  const maxMemoryMb = Math.min(parsed.memory ?? config.maxMemoryMb, ceilings.memoryMb);
  const maxDiskMb = Math.min(parsed.disk ?? config.maxDiskMb, ceilings.diskMb);
  const artifactMb = commandArtifactMb({ maxDiskMb });
  const dataRoots = [...config.dataRoots, ...parsed.data.map(dataFolder)];
  return {
    ...config,
    maxMemoryMb,
    maxDiskMb,
    artifactMb,
    dataRoots,
    poolSize: 1,
    maxConcurrentExecutions: 1,
  };
}
