import { type Style, styleFor } from '@pungi/core/base';
import type { OptionName } from '@pungi/core/config';
import { Command } from 'commander';
import { addConfigFlags, configSources } from '../config-flags.js';
import type { Finding } from './checks.js';
import { type Examination, examine } from './examine.js';

const SETTINGS: readonly OptionName[] = [
  'python',
  'tier',
  'allowUnsandboxed',
  'cgroups',
  'maxTotalMemoryMb',
  'preloadModules',
  'maxMemoryMb',
  'venvsBasePath',
  'defaultVenvName',
  'uv',
];

export function doctorCommand(end: (status: number) => void): Command {
  const command = new Command('doctor')
    .description('check everything a run depends on, make a test run, and say how to fix problems')
    .option('--json', 'print the findings as JSON');
  addConfigFlags(command, SETTINGS).addHelpText(
    'after',
    '\nExit codes:\n  0  runs work here\n  1  they do not',
  );
  return command.action(async (parsed: Record<string, unknown>) => {
    const examination = await examine(configSources(parsed));
    const text = parsed['json']
      ? `${JSON.stringify(examination, null, 2)}\n`
      : screenOf(examination, styleFor(process.stdout));
    process.stdout.write(text);
    end(examination.healthy ? 0 : 1);
  });
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** Formats one screen: a row per finding, the fix below it, and the changed settings. */
function screenOf({ healthy, findings, settings }: Examination, style: Style): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const paint = (state: Finding['state']) => style(COLOURS[state], state.padEnd(4));
  const rows = findings.flatMap(({ name, state, found, todo }) => [
    `${paint(state)}  ${name.padEnd(width)}  ${found}`,
    ...(todo === undefined ? [] : [`${' '.repeat(width + 8)}→ ${todo}`]),
  ]);
  const changed = settings
    .filter(({ origin }) => origin !== 'default')
    .map(({ name, value, origin }) => `      ${name} = ${JSON.stringify(value)}  (${origin})`);
  const defaults = settings.length - changed.length;
  const others =
    settings.length === 0
      ? []
      : [`      ${defaults} settings at their defaults; all of them: pungi doctor --json`];
  const verdict = healthy
    ? 'Pungi can run Python here.'
    : 'Pungi cannot run Python safely here: see the rows marked fail.';
  return [...rows, '', 'Settings:', ...changed, ...others, '', verdict, ''].join('\n');
}
