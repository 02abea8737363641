import type { OptionName } from '@pungi/core/config';
import { SCRIPT_DEFAULTS } from '@pungi/harness';
import { type Command, InvalidArgumentError } from 'commander';
import {
  collect,
  collectPairs,
  collectWords,
  type End,
  option,
  type RunFlags,
  subcommand,
  wholeFrom,
} from './flags.js';

/** Of validation scripts, which run in the sandbox. */
export const SCRIPT_SETTINGS: readonly OptionName[] = [
  'python',
  'tier',
  'allowUnsandboxed',
  'venvsBasePath',
  'defaultVenvName',
  'audit',
  'auditDir',
];

/** `pungi test run SPEC…`, and the same as `pungi test SPEC…`. */
export const runTests = (name: 'test' | 'run', end: End): Command =>
  subcommand<[specs: string[]], RunFlags>(name, end, {
    about:
      name === 'test' ? 'test an MCP server by specifications' : 'run the tests of specifications (the same)',
    operands: [['<spec...>', 'the specifications, in YAML or JSON']],
    options: [
      option(
        '-t, --tags <tags>',
        'only tests with one of these tags; "!slow" leaves out slow ones',
      ).argParser(collectWords),
      option('-f, --filter <text>', 'only tests with this in their id, or that match a /pattern/').argParser(
        parseFilter,
      ),
      option('-j, --parallel <count>', 'tests at once, in place of max_concurrency').argParser(
        wholeFrom(1, 256),
      ),
      option('--fail-fast', 'start no test after the first that fails'),
      option('--timeout <ms>', 'for each test, in place of timeout_seconds').argParser(
        wholeFrom(1, 86_400_000),
      ),
      option('-u, --update-snapshots', 'keep what is answered now as the snapshots'),
      option(
        '-r, --report <format:path>',
        'write a report: json, junit, markdown or html; may be repeated',
      ).argParser(collect),
      option('--var <name=value>', 'set a variable of the specifications; may be repeated').argParser(
        collectPairs,
      ),
      option('--strict', 'warnings are faults'),
      option('--list', 'show which tests would run, and run none'),
      option('-w, --watch', 'run again whenever a file of it changes, until Ctrl-C'),
      option('-v, --verbose', 'a line for every test, and more of what was sent and received'),
    ],
    settings: SCRIPT_SETTINGS,
    defaults: SCRIPT_DEFAULTS,
    help: `  pungi test server.test.yaml
  pungi test run specs/*.yaml --tags '!slow' --parallel 8
  pungi test run server.test.yaml --filter tool/add --verbose
  pungi test run server.test.yaml --report junit:report.xml --report report.html
  pungi test run server.test.yaml --update-snapshots
  pungi test run server.test.yaml --watch

Each server is started, called, and ended with everything that it started. What fails is told in
full. A report without a format is of the kind that the ending of its file names.
In CI (CI, GITHUB_ACTIONS and others), snapshots that do not exist yet are a failure, and the
remarks and the summary of the job are written where there are any.
With --json the report is the only thing on standard output.`,
    async run(surroundings, flags, specs) {
      const { runSpecs } = await import('./run-specs.js');
      return runSpecs(specs, flags, surroundings);
    },
  });

function parseFilter(text: string): string {
  const source = /^\/(.+)\/([imsu]*)$/.exec(text);
  if (source === null) return text;
  try {
    new RegExp(source[1]!, source[2]);
    return text;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
