import { SCRIPT_DEFAULTS } from '@pungi/harness';
import type { Command } from 'commander';
import { USAGE } from '../exit-codes.js';
import { refuseMisspelt } from '../subcommands.js';
import {
  type BenchFlags,
  collectList,
  collectPairs,
  type End,
  type FuzzFlags,
  type InitFlags,
  type LintFlags,
  option,
  RECORDED_OPTIONS,
  type RecordFlags,
  serverSubcommand,
  subcommand,
  takesCommand,
  wholeFrom,
} from './flags.js';
import { runTests, SCRIPT_SETTINGS } from './run.js';
import type { ValidateFlags } from './validate-specs.js';

/** `pungi test …`: tests of MCP servers. An argument that is not a subcommand is a specification to run. */
export function testCommand(end: End): Command {
  const command = runTests('test', end).usage('[options] <spec... | command>').enablePositionalOptions();
  command.addCommand(runTests('run', end));
  for (const make of [validate, init, record, fuzz, lint, bench]) command.addCommand(make(end));
  return command.hook('preAction', (_, action) => {
    if (action === command) refuseMisspelt(command);
  });
}

const bench = (end: End): Command =>
  serverSubcommand<BenchFlags>('bench', end, {
    about: 'measure the latency and throughput of tools',
    options: [
      option('--tool <names>', 'only these tools, separated by commas').argParser(collectList),
      option('-i, --input <json|@file>', 'the input, with one --tool; default: generated from the schema'),
      option('-d, --duration <ms>', 'how long to call each tool')
        .argParser(wholeFrom(1, 3_600_000))
        .default(3000),
      option('-c, --concurrency <count>', 'concurrent calls').argParser(wholeFrom(1, 1000)).default(1),
    ],
    help: `  pungi test bench -- node server.js
  pungi test bench --tool search --input '{"query": "tea"}' -c 8 -- node server.js
  pungi test bench --spec server.test.yaml --json

The tools are really called. Without --tool, only tools marked as read-only are called
(readOnlyHint); with --spec, those with a test, with the input of the first one that succeeds.`,
    async run(argv, flags, context) {
      const { benchServer } = await import('./bench-server.js');
      return benchServer(argv, flags, context);
    },
  });

const fuzz = (end: End): Command =>
  serverSubcommand<FuzzFlags>('fuzz', end, {
    about: 'call tools with unusual inputs: the server must answer, and never crash or hang',
    options: [
      option('--tool <names>', 'only these tools, separated by commas').argParser(collectList),
      option('-n, --runs <count>', 'inputs for each tool').argParser(wholeFrom(1)).default(100),
      option('--seed <number>', 'the same seed gives the same inputs').argParser(wholeFrom(0, 2 ** 32 - 1)),
      option('-o, --output <file>', 'write the findings as tests'),
      option('-f, --force', 'replace that file'),
    ],
    // Each tool is called a hundred times: one that hangs must not take an hour.
    timeoutMs: 10_000,
    help: `  pungi test fuzz -- node server.js
  pungi test fuzz --runs 1000 --tool search,fetch --timeout 5000 -- node server.js
  pungi test fuzz --spec server.test.yaml -o found.test.yaml
  pungi test fuzz --seed 42 --sandbox -- python3 server.py

The tools are really called: use a server that may break, or --sandbox. Tools marked as
destructive (destructiveHint) are left out unless --tool names them. Inputs are generated from the
tools' schemas, some of them invalid. An error is a valid answer; a crash, a hang, or an answer
that violates the protocol or the output schema is a finding, and its input is minimized.`,
    async run(argv, flags, context) {
      const { fuzzServer } = await import('./fuzz-server.js');
      return fuzzServer(argv, flags, context);
    },
  });

const lint = (end: End): Command =>
  serverSubcommand<LintFlags>('lint', end, {
    about: 'find problems for models and clients: descriptions, schemas, annotations, names',
    options: [
      option('--strict', 'treat warnings as failures'),
      option('--ignore <rules>', 'leave out these rules, separated by commas').argParser(collectList),
    ],
    help: `  pungi test lint -- node server.js
  pungi test lint --url http://127.0.0.1:3000/mcp --strict
  pungi test lint --spec server.test.yaml --ignore annotations,mime-type

No tool is called: only the server's descriptions of itself are checked. Errors violate the
protocol or mislead; warnings make models perform worse; advice suggests improvements.
Every remark ends with the name of its rule.`,
    async run(argv, flags, context) {
      const { lintServer } = await import('./lint-server.js');
      return lintServer(argv, flags, context);
    },
  });

const init = (end: End): Command =>
  serverSubcommand<InitFlags>('init', end, {
    about: 'write a first specification from what a server offers',
    options: [
      option('-o, --output <file>', 'where to write it ("-": standard output)').default('server.test.yaml'),
      option('-f, --force', 'replace the file'),
      option('--call <which>', 'tools to call, so that the tests can expect their answers')
        .choices(['read-only', 'all', 'none'])
        .default('read-only'),
    ],
    help: `  pungi test init -- node server.js
  pungi test init -o weather.test.yaml --server-env API_KEY=test -- python3 weather.py
  pungi test init --url http://127.0.0.1:3000/mcp
  pungi test init --call all --sandbox -- node server.js

Inputs are generated from the schemas of the tools. Read-only tools (readOnlyHint), resources and
prompts are called once, and their tests expect answers of the same kind; tests of other tools are
skipped until you have reviewed their input.`,
    async run(argv, flags, context) {
      const { writeFirstSpec } = await import('./write-first-spec.js');
      return writeFirstSpec(argv, flags, context);
    },
  });

const record = (end: End): Command => {
  const command = subcommand<[argv: string[]], RecordFlags>('record', end, {
    about: 'record the calls between a client and its server as tests',
    operands: [['[command...]', 'the command that starts the server']],
    options: [
      option('-o, --output <file>', 'where to write the tests').default('recorded.test.yaml'),
      option('-f, --force', 'replace the file'),
      option('--exact', 'expect exactly these answers, not only the same kind'),
      ...RECORDED_OPTIONS,
      option('-p, --port <number>', 'with --url: the port for the client (0: any free port)')
        .argParser(wholeFrom(0, 65_535))
        .default(0),
    ],
    help: `  pungi test record -o session.test.yaml -- node server.js
  pungi test record -o session.test.yaml --url https://example.com/mcp --port 4000

Put the first command into the configuration of a client instead of the server's command, and use
the client: every tool call, resource and prompt becomes a test. The server gets the environment of
the client. With --url, connect the client to the address that is printed, and stop with Ctrl-C.
Messages are forwarded unchanged, and the file is written after every call, so it is complete
however the client ends.
The file contains inputs, and with --exact also answers: review it before you share it. It does not
contain headers: it says \${env:AUTHORIZATION}, and the test takes it from the environment.`,
    async run(context, flags, argv) {
      const { recordCalls } = await import('./record-calls.js');
      return recordCalls(argv, flags, context);
    },
  });
  // Standard output belongs to the client.
  for (const one of command.options) if (one.long === '--json') one.hideHelp();
  return takesCommand(command).usage('[options] [--] <command... | --url url>');
};

const validate = (end: End): Command =>
  subcommand<[specs: string[]], ValidateFlags>('validate', end, {
    about: 'check specifications without starting a server',
    operands: [['<spec...>', 'the specifications, in YAML or JSON']],
    options: [
      option('--var <name=value>', 'set a variable, as in run; may be repeated').argParser(collectPairs),
      option('--strict', 'treat warnings as faults'),
    ],
    settings: SCRIPT_SETTINGS,
    defaults: SCRIPT_DEFAULTS,
    help: `  pungi test validate server.test.yaml
  pungi test validate specs/*.yaml --json

Each fault and warning names the file, line and column, the problem, and a likely correction.
Included files, schemas and scripts are checked as well: Python is compiled in the sandbox and not
run.`,
    async run({ style }, flags, specs) {
      const { validSpecs } = await import('./validate-specs.js');
      const { isValid, json, text } = await validSpecs(specs, flags, style);
      return { json, text, status: isValid ? 0 : USAGE };
    },
  });
