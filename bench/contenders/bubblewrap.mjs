// A sandboxed process for each run: namespaces like Pungi's namespace tier, without its limits and filters.

import { Unavailable } from '../unavailable.mjs';
import { outputOf } from './spawned.mjs';

const SANDBOX = [
  ['--unshare-all', '--die-with-parent', '--new-session'],
  ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
].flat();

export const bubblewrap = {
  id: 'bubblewrap',
  name: '`bwrap … python -I -c`',
  async open({ code, python, prefixes }) {
    // An interpreter below /tmp would be hidden by the fresh one.
    const kept = prefixes.flatMap((folder) => ['--ro-bind', folder, folder]);
    const run = () => outputOf('bwrap', [...SANDBOX, ...kept, python, '-I', '-c', code]);
    await run().catch((error) => {
      if (error.code === 'ENOENT') throw new Unavailable('not installed (Debian package bubblewrap)');
      throw new Unavailable(`does not work here: ${error.message.trim().split('\n').at(-1)}`);
    });
    return { run, close() {} };
  },
};
