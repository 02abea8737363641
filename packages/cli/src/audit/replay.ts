import { revealed, type Style } from '@pungi/core/base';
import type { Config, OptionName } from '@pungi/core/config';
import type { AuditEntry, Limits, Replay } from '@pungi/core/contract';
import type { Command } from 'commander';
import { type Parsed, withPungi } from '../act.js';
import { readConfig } from '../config-flags.js';
import { type End, findEntry, subcommand, WHICH, withReader } from './subcommand.js';

/** Settings for where code runs, and with which packages and rules. */
const SETTINGS: readonly OptionName[] = [
  'python',
  'tier',
  'allowUnsandboxed',
  'venvsBasePath',
  'defaultVenvName',
  'packageTimeoutMs',
  'uv',
  'profilesFile',
];

export const replay = (end: End): Command =>
  subcommand<[which: string], Parsed>('replay', end, {
    about: 'run an entry again, with the same packages, and compare',
    operands: [WHICH],
    settings: SETTINGS,
    help: `  pungi audit replay last
  pungi audit replay 12

Code, inputs and limits are the recorded ones; the environment is the recorded one, or created again from its lock file; the
profile is the current one of that name. Code that reads the clock or random numbers will differ.
The replay is recorded like any run.`,
    async run({ steps, style }, flags, which) {
      const entry = await withReader(flags, (reader) => findEntry(reader, which));
      const config = { ...readConfig(flags), ...limitsOf(entry, readConfig(flags)), audit: true };
      const result = await withPungi(config, (pungi) => pungi.replay(entry, steps));
      return { json: result, text: describe(result, style), status: result.same ? 0 : 1 };
    },
  });

const OPTIONS: Record<keyof Limits, OptionName & keyof Config> = {
  timeoutMs: 'executionTimeoutMs',
  cpuMs: 'maxCpuMs',
  memoryMb: 'maxMemoryMb',
  processes: 'maxProcesses',
  openFiles: 'maxOpenFiles',
  diskMb: 'maxDiskMb',
  outputBytes: 'maxOutputBytes',
  outputHardBytes: 'maxOutputHardBytes',
};

/** The user of the command line owns the limits: what was allowed then is allowed now. */
function limitsOf({ kind, data }: AuditEntry, config: Config): Partial<Config> {
  const limits = kind === 'run' ? data.limits : null;
  if (limits === null) return {};
  const raised = Object.entries(OPTIONS).map(([name, option]) => [
    option,
    Math.max(limits[name as keyof Limits], config[option] as number),
  ]);
  return Object.fromEntries(raised);
}

function describe({ seq, same, differences, outcome }: Replay, style: Style): string {
  if (same) return `${style('green', 'same')}  Entry ${seq} gave the same output.\n`;
  const lines = differences.map((difference) => `${style('red', '✗')} ${revealed(difference)}\n`);
  const { stdout, stderr, value } = outcome;
  const written = [stdout.text, stderr.text, value?.repr ?? ''].filter((text) => text !== '');
  const now =
    written.length === 0
      ? ''
      : `Its output now:\n${revealed(written.join('\n')).trimEnd().replace(/^/gm, '    ')}\n`;
  return `${lines.join('')}${now}`;
}
