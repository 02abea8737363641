// Runs a program in the repository's root with inherited output, and resolves to its status.
import { spawn } from 'node:child_process';
import { at, root } from './repository.mjs';

export function run(command, args, { env = {}, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...env },
      ...options,
    });
    child.once('error', reject);
    child.once('close', (status) => resolve(status ?? 1));
  });
}

/** Runs a program of an installed package with this Node. */
export const runTool = (file, args, options) =>
  run(process.execPath, [at('node_modules', file), ...args], options);
