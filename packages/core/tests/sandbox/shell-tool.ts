import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { descendantsOf, isAlive, type KnownProcess } from '../../../../tests/support/processes.js';
import { until } from '../../../../tests/support/until.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { runTool, type ToolCommand, type ToolOptions } from '../../src/sandbox/tool.js';

const SERVER = fileURLToPath(new URL('./fixtures/run-tool.mjs', import.meta.url));
export const { path: python } = await findInterpreter();

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-tool-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}

export const shell = (script: string, more: Partial<ToolCommand> = {}): ToolCommand => ({
  python,
  command: '/bin/sh',
  args: ['-c', script],
  env: { PATH: '/usr/bin:/bin' },
  ...more,
});

export const run = (command: ToolCommand, options: Partial<ToolOptions> = {}) =>
  runTool(command, { timeoutMs: 30_000, ...options });

export const living = (processes: KnownProcess[]) => processes.filter(isAlive).map(({ command }) => command);

/** Everything below a process, once so many of them sleep. */
export const sleepersBelow = (pid: number, count: number): Promise<KnownProcess[]> =>
  until(() => {
    const found = descendantsOf(pid);
    return found.filter(({ command }) => command === 'sleep').length === count ? found : undefined;
  }, `${count} processes sleep`);

/** Kills a server that runs the tool, and waits until all of it is gone. */
export async function outliveServer(command: ToolCommand, sleepers: number): Promise<void> {
  const env = { PATH: process.env['PATH'], TOOL: JSON.stringify(command) };
  const server = spawn(process.execPath, [SERVER], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const processes = await sleepersBelow(server.pid!, sleepers);
  server.kill('SIGKILL');
  await until(() => living(processes).length === 0, 'the tool is gone');
}
