import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { User } from './attack.js';
import type { Installations, Installed } from './build-jail-runner.js';
import { buildStage, IS_ROOT, identityOf, type Stage, startedIn } from './stage.js';

/** A stage for the runner, with a uv that every user can start. */
export async function buildJailStage(uv: string): Promise<Stage & { uv: string }> {
  const stage = await buildStage('build-jail-runner');
  const reachable = join(stage.folder, 'uv');
  cpSync(uv, reachable, { dereference: true });
  chmodSync(reachable, 0o755);
  return { ...stage, uv: reachable };
}

/** A folder of the user's own, with a home that has something to steal. */
export function homeOf(stage: Stage, user: User, name: string = user): string {
  const folder = join(stage.folder, `build-${name}`);
  const { uid, gid } = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, ...identityOf(user) };
  for (const path of ['', 'home', 'tmp', 'cache', 'outside']) mkdirSync(join(folder, path));
  writeFileSync(join(folder, 'home/secret'), stage.canary);
  writeFileSync(join(folder, 'outside/file'), 'untouched\n', { mode: 0o640 });
  for (const path of ['', 'home', 'home/secret', 'tmp', 'cache', 'outside', 'outside/file']) {
    if (IS_ROOT) chownSync(join(folder, path), uid, gid);
  }
  return folder;
}

/** Runs it below the keeper, which lists what is left when it has ended. */
export async function runInstallations(
  stage: Stage,
  user: User,
  installations: Installations,
  through: string[] = [],
): Promise<{ installed: Map<string, Installed>; survivors: string[] | null }> {
  const { folder } = installations;
  const [command, ...args] = [
    ...through,
    stage.python,
    '-I',
    stage.keeper,
    stage.node,
    stage.runner,
    stage.canary,
  ];
  const child = spawn(command!, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...startedIn(folder, user, { SECRET: stage.canary }),
  });
  child.stdin.end(JSON.stringify(installations));
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const said = printed
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Installed & { survivors?: string[] });
  const installed = said.filter(({ name }) => name !== undefined);
  return {
    installed: new Map(installed.map((each) => [each.name, each])),
    survivors: said.find(({ survivors }) => survivors)?.survivors ?? null,
  };
}
