// The reference: the same interpreter, a fresh process, no sandbox.
import { outputOf } from './spawned.mjs';

export const bare = {
  id: 'bare',
  name: '`python -I -c`, no sandbox',
  async open({ code, python }) {
    return { run: () => outputOf(python, ['-I', '-c', code]), close() {} };
  },
};
