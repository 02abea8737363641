import type { Style } from '../../base/terminal.js';
import type { Examination } from './examine.js';
import type { Finding } from './finding.js';

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** One screen for a person: a row each, what to do below the rows that need it, and the settings that were changed. */
export function screenOf({ healthy, findings, settings }: Examination, style: Style): string {
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
