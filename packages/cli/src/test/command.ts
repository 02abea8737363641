import { SCRIPT_DEFAULTS } from '@pungi/harness';
import type { Command } from 'commander';
import { USAGE } from '../exit-codes.js';
import { refuseMisspelt } from '../subcommands.js';
import {
  type BenchFlags,
  collectPairs,
  collectWords,
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

/** `pungi test …`: servers under test. What is none of its commands is a specification to run. */
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
    about: 'measure how long tools take, and how many calls a second they bear',
    options: [
      option('--tool <names>', 'only these tools, separated by commas').argParser(collectWords),
      option('-i, --input <json|@file>', 'the input, with one --tool; else made from the schema'),
      option('-d, --duration <ms>', 'how long each tool is called')
        .argParser(wholeFrom(1, 3_600_000))
        .default(3000),
      option('-c, --concurrency <count>', 'calls at the same time').argParser(wholeFrom(1, 1000)).default(1),
    ],
    help: `  pungi test bench -- node server.js
  pungi test bench --tool search --input '{"query": "tea"}' -c 8 -- node server.js
  pungi test bench --spec server.test.yaml --json

The tools are really called. Without --tool these are the ones that say that they only read
(readOnlyHint); with --spec, those that have a test, with the input of the first that succeeds.`,
    async run(words, flags, surroundings) {
      const { benchServer } = await import('./bench-server.js');
      return benchServer(words, flags, surroundings);
    },
  });

const fuzz = (end: End): Command =>
  serverSubcommand<FuzzFlags>('fuzz', end, {
    about: 'call tools with strange inputs: the server must answer, and never crash or hang',
    options: [
      option('--tool <names>', 'only these tools, separated by commas').argParser(collectWords),
      option('-n, --runs <count>', 'inputs for each tool').argParser(wholeFrom(1)).default(100),
      option('--seed <number>', 'the same seed tries the same inputs').argParser(wholeFrom(0, 2 ** 32 - 1)),
      option('-o, --output <file>', 'write what is found as tests'),
      option('-f, --force', 'replace that file'),
    ],
    // A hundred calls for each tool: one that hangs should not take an hour.
    timeoutMs: 10_000,
    help: `  pungi test fuzz -- node server.js
  pungi test fuzz --runs 1000 --tool search,fetch --timeout 5000 -- node server.js
  pungi test fuzz --spec server.test.yaml -o found.test.yaml
  pungi test fuzz --seed 42 --sandbox -- python3 server.py

The tools are really called: take a server that may be broken, or --sandbox. Those that say that
they destroy (destructiveHint) are left out unless --tool names them. Inputs are made from the
tools' own schemas, some of them spoilt. An error is a right answer; a crash, silence, an answer
against the protocol or against the output schema is a find, and is made as small as it can be.`,
    async run(words, flags, surroundings) {
      const { fuzzServer } = await import('./fuzz-server.js');
      return fuzzServer(words, flags, surroundings);
    },
  });

const lint = (end: End): Command =>
  serverSubcommand<LintFlags>('lint', end, {
    about: 'say what a model or a client will trip over: descriptions, schemas, annotations, names',
    options: [
      option('--strict', 'warnings fail as well'),
      option('--ignore <rules>', 'leave out these rules, separated by commas').argParser(collectWords),
    ],
    help: `  pungi test lint -- node server.js
  pungi test lint --url http://127.0.0.1:3000/mcp --strict
  pungi test lint --spec server.test.yaml --ignore annotations,mime-type

Nothing is called: only what the server says of itself is looked at. Errors are against the protocol
or mislead; warnings are what models use worse for; advice is what could be said in addition.
Every remark ends with the name of its rule.`,
    async run(words, flags, surroundings) {
      const { lintServer } = await import('./lint-server.js');
      return lintServer(words, flags, surroundings);
    },
  });

const init = (end: End): Command =>
  serverSubcommand<InitFlags>('init', end, {
    about: 'ask a server what it has, and write a first specification',
    options: [
      option('-o, --output <file>', 'where to write it ("-": standard output)').default('server.test.yaml'),
      option('-f, --force', 'replace the file'),
      option('--call <which>', 'tools to call, so that the tests know what is answered')
        .choices(['read-only', 'all', 'none'])
        .default('read-only'),
    ],
    help: `  pungi test init -- node server.js
  pungi test init -o weather.test.yaml --server-env API_KEY=test -- python3 weather.py
  pungi test init --url http://127.0.0.1:3000/mcp
  pungi test init --call all --sandbox -- node server.js

Inputs are made from the schemas of the tools. Tools that say that they only read (readOnlyHint),
resources and prompts are called once, and their tests expect answers of the same kind; tests of
other tools are written to be skipped until you have looked at their input.`,
    async run(words, flags, surroundings) {
      const { writeFirstSpec } = await import('./write-first-spec.js');
      return writeFirstSpec(words, flags, surroundings);
    },
  });

const record = (end: End): Command => {
  const command = subcommand<[words: string[]], RecordFlags>('record', end, {
    about: 'stand between a client and its server, and write the calls as tests',
    operands: [['[command...]', 'what starts the server, with its arguments']],
    options: [
      option('-o, --output <file>', 'where to write the tests').default('recorded.test.yaml'),
      option('-f, --force', 'replace the file'),
      option('--exact', 'expect the very answers, rather than answers of the same kind'),
      ...RECORDED_OPTIONS,
      option('-p, --port <number>', 'with --url: where the client is served (0: any that is free)')
        .argParser(wholeFrom(0, 65_535))
        .default(0),
    ],
    help: `  pungi test record -o session.test.yaml -- node server.js
  pungi test record -o session.test.yaml --url https://example.com/mcp --port 4000

Put the first into the configuration of a client in place of the server's own command, and use
the client: every tool that it calls, resource that it reads and prompt that it gets becomes a
test. The server has the environment that the client gives. With --url, give the client the
address that is printed, and end with Ctrl-C. Messages are passed on unchanged, and the file is
written after every call, so it is whole however the client ends.
Inputs, and with --exact also answers, are in the file: look at it before you share it. Headers
are not: the file says \${env:AUTHORIZATION}, and the test takes it from the environment.`,
    async run(surroundings, flags, words) {
      const { recordCalls } = await import('./record-calls.js');
      return recordCalls(words, flags, surroundings);
    },
  });
  // Standard output belongs to the client.
  for (const one of command.options) if (one.long === '--json') one.hideHelp();
  return takesCommand(command).usage('[options] [--] <command... | --url url>');
};

const validate = (end: End): Command =>
  subcommand<[specs: string[]], ValidateFlags>('validate', end, {
    about: 'say all that is wrong with specifications, without starting a server',
    operands: [['<spec...>', 'the specifications, in YAML or JSON']],
    options: [
      option('--var <name=value>', 'a variable, as with run; may be repeated').argParser(collectPairs),
      option('--strict', 'warnings are faults'),
    ],
    settings: SCRIPT_SETTINGS,
    defaults: SCRIPT_DEFAULTS,
    help: `  pungi test validate server.test.yaml
  pungi test validate specs/*.yaml --json

Each fault and warning names file, line and column, what is wrong, and what was probably meant.
Files that a specification includes, its schemas and its scripts are looked at as well: Python is
compiled in the sandbox, and none of it is run.`,
    async run({ style }, flags, specs) {
      const { validSpecs } = await import('./validate-specs.js');
      const { isValid, json, text } = await validSpecs(specs, flags, style);
      return { json, text, status: isValid ? 0 : USAGE };
    },
  });
