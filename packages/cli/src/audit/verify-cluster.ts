import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ClusterAudit, FrontAudit } from '@pungi/cluster';
import { auditFolder } from '@pungi/core/audit';
import { countText, PungiError, revealedLine, type Style } from '@pungi/core/base';
import type { Answer, CommandContext, Parsed } from '../act.js';
import { clusterOf } from '../cluster-settings.js';
import { readConfig } from '../config-flags.js';
import { DAMAGED, UNAVAILABLE } from '../exit-codes.js';

/** PUNGI_CLUSTER alone does not ask for it: the trail of this machine can be checked without it. */
export const isOfCluster = ({ cluster, trail }: Parsed): boolean =>
  cluster !== undefined || trail !== undefined;

/** Checks the trails of all front ends. */
export async function verifyCluster(
  { steps, style }: CommandContext,
  flags: Parsed,
  copies: readonly string[],
): Promise<Answer> {
  if (flags['expect'] !== undefined)
    throw new PungiError('INVALID_INPUT', 'Give either --expect or --cluster: checkpoints replace --expect.');
  const config = readConfig(flags);
  const { address, creds } = await clusterOf(config, 'operator');
  const own = auditFolder(config);
  const folders = [...(existsSync(join(own, 'audit.db')) ? [own] : []), ...copies.map(folderOf)];
  const { verifyAudit } = await import('@pungi/cluster');
  const { signal, onStep } = steps;
  const found = await verifyAudit(address, { creds, folders: [...new Set(folders)], signal, onStep });
  return { json: found, text: format(found, style), status: statusOf(found) };
}

/** The database of a trail names its folder. */
function folderOf(path: string): string {
  const whole = resolve(path);
  return statSync(whole, { throwIfNoEntry: false })?.isFile() ? dirname(whole) : whole;
}

function statusOf({ ok, frontEnds, others }: ClusterAudit): number {
  if (ok) return 0;
  const isDamaged =
    frontEnds.some(({ state }) => state === 'damaged') || others.some(({ problems }) => problems.length > 0);
  return isDamaged ? DAMAGED : UNAVAILABLE;
}

const MARKS = { ok: 'green', damaged: 'red', unchecked: 'yellow' } as const;

function format({ cluster, frontEnds, others }: ClusterAudit, style: Style): string {
  const lines = frontEnds.flatMap((front) => [
    `${style(MARKS[front.state], front.state.padEnd(9))}  ${front.frontEnd}  ${countText(front.checkpoints, 'checkpoint')}`,
    ...detailsOf(front).map((line) => `           ${revealedLine(line)}`),
  ]);
  for (const { folder, problems } of others) {
    const state = problems.length === 0 ? 'ok' : 'damaged';
    lines.push(`${style(MARKS[state], state.padEnd(9))}  ${folder}  of no front end`);
    lines.push(...problems.map((problem) => `           ✗ ${revealedLine(problem)}`));
  }
  const count = (state: FrontAudit['state']) =>
    `${frontEnds.filter((front) => front.state === state).length} ${state}`;
  const total = `Cluster ${cluster}: ${countText(frontEnds.length, 'front end')} (${count('ok')}, ${count('damaged')}, ${count('unchecked')})`;
  return `${lines.join('\n')}\n${total}\n`;
}

const detailsOf = ({ trails, problems, unchecked }: FrontAudit): string[] => [
  ...trails.map(({ folder, head, removed, boundThrough }) => {
    const first = (removed?.through ?? 0) + 1;
    const where = folder === null ? 'sent by the front end' : folder;
    return `entries ${first} to ${head?.seq ?? 0}, bound by checkpoints up to ${boundThrough} (${where})`;
  }),
  ...problems.map((problem) => `✗ ${problem}`),
  ...unchecked.map((reason) => `not checked: ${reason}`),
];
