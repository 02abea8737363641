import { mkdtempSync, rmSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOCKET_NAME = 'server.sock';

/** A private folder for a socket of this process. It is removed when the process ends, also after a crash. */
export class PrivateFolder {
  readonly path: string;
  /** The path to listen on. */
  readonly socket: string;

  constructor() {
    const base = shortTemporaryFolder();
    sweepAbandoned(base).catch(() => {}); // it belongs to another process, or is gone
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

/** Removes the folder of a killed server, if nothing answers on its socket. */
async function sweepAbandoned(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const pid = /^pungi-(\d+)-\w+$/.exec(name)?.[1];
    const folder = join(base, name);
    if (pid === undefined || isAlive(Number(pid)) || (await answers(join(folder, SOCKET_NAME)))) continue;
    const { uid } = await lstat(folder);
    if (uid === process.getuid?.()) await rm(folder, { recursive: true, force: true });
  }
}

/** Checks the socket, because the process may be in a namespace where it is not visible. */
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

/** The path of a unix socket is limited to about a hundred characters. */
function shortTemporaryFolder(): string {
  return tmpdir().length <= 60 || process.platform === 'win32' ? tmpdir() : '/tmp';
}
