import { mkdtempSync, rmSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOCKET_NAME = 'server.sock';

/** A folder that nobody else can look into, for a socket of this process. It is gone with the process, however that ends. */
export class PrivateFolder {
  readonly path: string;
  /** Where to listen. */
  readonly socket: string;

  constructor() {
    const base = shortTemporaryFolder();
    sweepAbandoned(base).catch(() => {}); // somebody else's, or gone: not ours to mend
    this.path = mkdtempSync(join(base, `pungi-${process.pid}-`));
    this.socket = join(this.path, SOCKET_NAME);
    process.once('exit', this.#remove);
  }

  remove(): void {
    process.off('exit', this.#remove);
    this.#remove();
  }

  #remove = (): void => rmSync(this.path, { recursive: true, force: true });
}

/** A server that was killed could not remove its folder; the next one does, if nobody answers there. */
async function sweepAbandoned(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = /^pungi-(\d+)-\w+$/.exec(name)?.[1];
    const folder = join(base, name);
    if (pid === undefined || isAlive(Number(pid)) || (await answers(join(folder, SOCKET_NAME)))) continue;
    const { uid } = await lstat(folder);
    if (uid === process.getuid?.()) await rm(folder, { recursive: true, force: true });
  }
}

/** Its process may be in a namespace where we cannot see it. */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const attempt = connect(socket, () => {
      attempt.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A unix socket's path may have about a hundred characters. */
function shortTemporaryFolder(): string {
  return tmpdir().length <= 60 || process.platform === 'win32' ? tmpdir() : '/tmp';
}
