import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { SANDBOX_UID } from '../sandbox/sandbox-uid.js';
import { spawnPython } from '../sandbox/spawn.js';

/** What a sandboxed server needs from the host. It writes only to its own /tmp, and has no network. */
export interface JailedServer {
  /** The interpreter that runs packages/core/python/pungi/tools/tool.py. */
  python: string;
  readable: readonly string[];
}

interface Program {
  /** Absolute path. */
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  folder: string;
}

/** `refusal` resolves when the process has ended, to undefined if the server was started. */
export function spawnJailed(
  { command, args, env, folder }: Program,
  { python, readable }: JailedServer,
): { child: ChildProcess; refusal: Promise<string | undefined> } {
  const child = spawnPython(python, 'tool', { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: {} });
  const channel = child.stdio?.[3] as (Readable & Writable) | undefined;
  if (channel === undefined) return { child, refusal: Promise.resolve(undefined) };
  channel.on('error', () => {});
  channel.end(
    JSON.stringify({
      server: process.pid,
      command,
      args,
      env: { ...env, HOME: '/tmp', TMPDIR: '/tmp' },
      folder,
      jail: { readable: [folder, ...readable], writable: [], uid: SANDBOX_UID },
    }),
  );
  const refusal = text(channel).then(
    (output) =>
      output === '' ? undefined : (JSON.parse(output.split('\n')[0]!) as { failed: string }).failed,
    () => undefined,
  );
  return { child, refusal };
}
