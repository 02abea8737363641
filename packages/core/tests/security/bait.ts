import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type ListenOptions } from 'node:net';
import { tmpdir } from 'node:os';
import { filesBelow } from './files-below.js';
import type { TableRun } from './table-run.js';

const UNTOUCHED = 'untouched\n';

/** What attackers look for on the host: files that anybody may read or write, and addresses that answer anybody. */
export class Bait {
  readonly scripts: string;
  private readonly folder: string;
  private readonly mark = `pungi-attack-${randomBytes(4).toString('hex')}`;
  private readonly calls: string[] = [];
  private readonly closers: (() => void)[] = [];
  private readonly addresses = { tcpPort: 0, udpPort: 0, unixPath: '', abstractName: '' };
  private state: string;

  private constructor(private readonly table: TableRun) {
    const { folder, canary } = table;
    this.folder = `${folder}/bait`;
    this.scripts = `${folder}/scripts`;
    for (const path of [this.folder, this.scripts, `${folder}/home/.ssh`])
      mkdirSync(path, { recursive: true });
    writeFileSync(`${folder}/canary.txt`, canary);
    writeFileSync(`${folder}/home/.ssh/id_ed25519`, canary);
    writeFileSync(`${this.folder}/file.txt`, UNTOUCHED);
    symlinkSync(`${folder}/canary.txt`, `${this.scripts}/link-out.py`);
    execFileSync('mkfifo', [`${this.scripts}/pipe.py`]);
    chmodSync(this.folder, 0o777);
    chmodSync(`${this.folder}/file.txt`, 0o666);
    this.state = this.look();
  }

  static async lay(table: TableRun): Promise<Bait> {
    const bait = new Bait(table);
    await bait.listen();
    return bait;
  }

  private async listen(): Promise<void> {
    const { addresses } = this;
    addresses.unixPath = `${this.table.folder}/host.sock`;
    addresses.abstractName = this.mark;
    const tcp = await this.serve({ port: 0, host: '::', ipv6Only: false });
    addresses.tcpPort = (tcp as { port: number }).port;
    await this.serve({ path: addresses.unixPath });
    chmodSync(addresses.unixPath, 0o777);
    await this.serve({ path: `\0${addresses.abstractName}` });
    const udp = createSocket('udp6').on('message', () => this.calls.push('udp'));
    udp.bind(0);
    await once(udp, 'listening');
    addresses.udpPort = udp.address().port;
    this.closers.push(() => udp.close());
  }

  private async serve(where: ListenOptions): Promise<unknown> {
    const server = createServer((socket) => {
      this.calls.push(JSON.stringify(where));
      socket.destroy();
    }).listen(where);
    await once(server, 'listening');
    this.closers.push(() => server.close());
    return server.address();
  }

  /** The part of a row's `context` that tells where things are. It never holds a canary. */
  context() {
    const { folder, secretFiles, secretFolders } = this.table;
    return {
      ...this.addresses,
      mark: this.mark,
      bait: this.folder,
      baitFile: `${this.folder}/file.txt`,
      canaryFile: `${folder}/canary.txt`,
      secretFiles: [`${folder}/canary.txt`, `${folder}/home/.ssh/id_ed25519`, ...secretFiles],
      secretFolders: [folder, `${folder}/home`, tmpdir(), ...secretFolders],
      serverSockets: this.serverSockets(),
    };
  }

  private serverSockets(): string[] {
    const top = tmpdir();
    return filesBelow(top)
      .filter((name) => name.endsWith('.sock'))
      .map((name) => `${top}/${name}`);
  }

  /** Calls that came in, and traces on the host, since the last row. */
  problems(): string[] {
    const problems = this.calls.splice(0).map((address) => `somebody called ${address}`);
    const state = this.look();
    if (state !== this.state) {
      problems.push(`the bait was touched: ${state} instead of ${this.state}`);
      this.state = state; // told once
    }
    for (const folder of [
      '/',
      '/etc',
      '/usr',
      '/tmp',
      '/var/tmp',
      '/dev/shm',
      '/dev',
      '/home',
      '/root',
      '/run',
      this.table.folder,
    ]) {
      for (const name of [this.mark, `${this.mark}-folder`]) {
        if (existsSync(`${folder}/${name}`)) {
          problems.push(`${folder}/${name} was written`);
          rmSync(`${folder}/${name}`, { recursive: true, force: true });
        }
      }
    }
    return problems;
  }

  private look(): string {
    const files = [
      this.folder,
      `${this.folder}/file.txt`,
      `${this.table.folder}/canary.txt`,
      `${this.table.folder}/home`,
    ];
    const about = files.map((path) =>
      describe(path, ({ mode, uid, gid, mtimeMs }) => [mode.toString(8), uid, gid, mtimeMs]),
    );
    // Others write to these: only what the rows try on them tells.
    const secret = this.table.secretFolders.map((path) =>
      describe(path, ({ mode, uid, gid, mtimeMs }) => [mode.toString(8), uid, gid, mtimeMs === 1000]),
    );
    const text = existsSync(files[1]!) ? readFileSync(files[1]!, 'utf8') : null;
    return JSON.stringify([about, secret, readdirSync(this.folder), text]);
  }

  async close(): Promise<void> {
    for (const close of this.closers) close();
  }
}

/** The server itself may be unable to see a path, such as the repository below a folder that only root can enter. */
function describe(path: string, facts: (stat: Stats) => unknown[]): string {
  try {
    return facts(lstatSync(path)).join(' ');
  } catch (error) {
    return `${(error as NodeJS.ErrnoException).code}`;
  }
}
