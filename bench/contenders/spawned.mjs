// A program started for one run: what everybody does without a pool.
import { spawn } from 'node:child_process';

export function outputOf(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr']) {
      child[name].setEncoding('utf8').on('data', (text) => {
        said[name] += text;
      });
    }
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) resolve(said.stdout);
      else reject(new Error(`${command} ended with ${status}: ${said.stderr.slice(-500)}`));
    });
  });
}
