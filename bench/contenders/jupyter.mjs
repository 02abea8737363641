// A fresh Jupyter kernel for each run, driven by jupyter_client.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Unavailable } from '../unavailable.mjs';
import { outputOf } from './spawned.mjs';

const DRIVER = fileURLToPath(new URL('./jupyter_driver.py', import.meta.url));

export const jupyter = {
  id: 'jupyter',
  name: 'Jupyter, fresh kernel',
  isSlow: true,
  /** One driver starts one kernel at a time. */
  isSerial: true,
  async open({ code, python }) {
    await outputOf(python, ['-I', '-c', 'import ipykernel, jupyter_client']).catch(() => {
      throw new Unavailable('not importable (Python packages ipykernel and jupyter_client)');
    });
    const driver = spawn(python, ['-I', DRIVER], { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = createInterface({ input: driver.stdout })[Symbol.asyncIterator]();
    const next = async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error('the Jupyter driver ended');
      return JSON.parse(value);
    };
    return {
      async run() {
        driver.stdin.write(`${JSON.stringify(code)}\n`);
        return next();
      },
      /** Shutting down the kernel is not counted. */
      afterwards: next,
      close() {
        driver.stdin.end();
      },
    };
  },
};
