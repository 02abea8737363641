// Starts a program for one run: the usual way without a pool.
import { spawn } from 'node:child_process';

export function outputOf(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => {
        output[name] += text;
      });
    }
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) resolve(output.stdout);
      else reject(new Error(`${command} ended with ${status}: ${output.stderr.slice(-500)}`));
    });
  });
}
