import { spawn } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN } from '../support/main.js';

export interface ShellRunning {
  ended: Promise<{ status: number | null; output: string }>;
  /** Resolves once it has printed the text; rejects if it ends before. */
  shows(text: string): Promise<void>;
  stop(): Promise<void>;
}

/** Runs a line of the documentation in a shell, where `pungi` is the program that was built. */
export function shellIn(folder: string, line: string, env: Record<string, string>): ShellRunning {
  const shim = join(folder, 'pungi');
  if (!existsSync(shim)) {
    writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    chmodSync(shim, 0o755);
  }
  // A group of its own, so that all of it can be stopped.
  const child = spawn('sh', ['-c', line], {
    cwd: folder,
    env: { ...env, PATH: `${folder}:${env['PATH']}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<{ status: number | null; output: string }>((done) =>
    child.once('close', (status) => done({ status, output })),
  );
  const shows = (text: string) =>
    new Promise<void>((done, fail) => {
      const look = () => {
        if (output.includes(text)) done();
      };
      for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
      look();
      void ended.then(() => fail(new Error(`ended before showing "${text}": ${output}`)));
    });
  const stop = async () => {
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
    await ended;
  };
  return { ended, shows, stop };
}
