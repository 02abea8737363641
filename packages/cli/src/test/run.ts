import type { OptionName } from '@pungi/core/config';
import { SCRIPT_DEFAULTS } from '@pungi/harness';
import { type Command, InvalidArgumentError } from 'commander';
import {
  collect,
  collectList,
  collectPairs,
  type End,
  option,
  type RunFlags,
  subcommand,
  wholeFrom,
} from './flags.js';

/** Settings for validation scripts, which run in the sandbox. */
export const SCRIPT_SETTINGS: readonly OptionName[] = [
  'python',
  'tier',
  'allowUnsandboxed',
  'venvsBasePath',
  'defaultVenvName',
  'audit',
  'auditDir',
];

/** `pungi test run SPEC…`, also available as `pungi test SPEC…`. */
export const runTests = (name: 'test' | 'run', end: End): Command =>
  subcommand<[specs: string[]], RunFlags>(name, end, {
    about:
      name === 'test'
        ? 'test an MCP server by specifications'
        : 'run the tests of specifications (same as "pungi test")',
    operands: [['<spec...>', 'the specifications, in YAML or JSON']],
    options: [
      option(
        '-t, --tags <tags>',
        'only tests with one of these tags; "!slow" leaves out slow ones',
      ).argParser(collectList),
      option('-f, --filter <text>', 'only tests with this in their id, or that match a /pattern/').argParser(
        parseFilter,
      ),
      option('-j, --parallel <count>', 'concurrent tests; overrides max_concurrency').argParser(
        wholeFrom(1, 256),
      ),
      option('--fail-fast', 'start no more tests after the first failure'),
      option('--timeout <ms>', 'for each test; overrides timeout_seconds').argParser(
        wholeFrom(1, 86_400_000),
      ),
      option('-u, --update-snapshots', 'save the current answers as snapshots'),
      option(
        '-r, --report <format:path>',
        'write a report: json, junit, markdown or html; may be repeated',
      ).argParser(collect),
      option('--var <name=value>', 'set a variable of the specifications; may be repeated').argParser(
        collectPairs,
      ),
      option('--strict', 'treat warnings as faults'),
      option('--list', 'list the tests without running them'),
      option('-w, --watch', 'run again whenever a file changes, until Ctrl-C'),
      option('-v, --verbose', 'print every test, and more of what was sent and received'),
    ],
    settings: SCRIPT_SETTINGS,
    defaults: SCRIPT_DEFAULTS,
    help: `  pungi test server.test.yaml
  pungi test run specs/*.yaml --tags '!slow' --parallel 8
  pungi test run server.test.yaml --filter tool/add --verbose
  pungi test run server.test.yaml --report junit:report.xml --report report.html
  pungi test run server.test.yaml --update-snapshots
  pungi test run server.test.yaml --watch

Each server is started, called, and stopped with all its processes. Failures are reported in full.
The format of a report without one follows from its file extension.
In CI (CI, GITHUB_ACTIONS and others), missing snapshots are failures, and annotations and a job
summary are written if the CI supports them.
With --json the report is the only thing on standard output.`,
    async run(context, flags, specs) {
      const { runSpecs } = await import('./run-specs.js');
      return runSpecs(specs, flags, context);
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
