import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { descendantsOf, type KnownProcess } from '../../../../tests/support/processes.js';
import { type Running, start } from '../../../cli/tests/pungi.js';
import type { TestCluster } from '../cluster.js';
import type { WorkerTrail } from './history.js';
import { Link } from './link.js';

const ENV = { POOL_SIZE: '1', MAX_CONCURRENT_EXECUTIONS: '4' };
/** The size of a worker's disk, where it can have one of its own. */
const DISK = '24m';

/** What one worker has that others do not. */
export interface Peculiarity {
  /** Another program than the one that people start. */
  main?: string;
  env?: Record<string, string>;
}

/** A worker that is killed and started again, with a link and, where possible, a disk of its own. */
export class ChaosWorker {
  #running: Running | undefined;
  /** Every process that was seen below it. */
  readonly seen = new Map<string, KnownProcess>();

  private constructor(
    readonly name: string,
    private readonly cluster: TestCluster,
    private readonly disk: string,
    private readonly hasOwnDisk: boolean,
    readonly link: Link,
    private readonly peculiarity: Peculiarity,
  ) {}

  static async open(
    name: string,
    cluster: TestCluster,
    folder: string,
    peculiarity: Peculiarity = {},
  ): Promise<ChaosWorker> {
    const disk = join(folder, name);
    mkdirSync(disk);
    const link = await Link.open(() => Number(new URL(cluster.nats.url).port));
    const worker = new ChaosWorker(name, cluster, disk, mountDisk(disk), link, peculiarity);
    await worker.start();
    return worker;
  }

  get isRunning(): boolean {
    return (
      this.#running !== undefined &&
      this.#running.child.exitCode === null &&
      this.#running.child.signalCode === null
    );
  }

  async start(): Promise<void> {
    const { name, cluster, disk, link, peculiarity } = this;
    const args = ['worker', '--cluster', link.url, '--creds', cluster.workerCreds, '--worker-name', name];
    const env = { ...ENV, ...peculiarity.env, XDG_STATE_HOME: disk, TMPDIR: disk };
    // As a service manager does: without NATS or a disk, a worker does not start.
    for (let left = 20; ; left--) {
      const running = start(args, { env, through: link.through, main: peculiarity.main });
      this.#running = running;
      try {
        await running.shows('stderr', 'The worker takes runs');
        return;
      } catch (error) {
        if (left === 0) throw error;
      }
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.look();
    this.#running?.child.kill(signal);
  }

  /** Resolves when the process has ended. */
  async ended(): Promise<void> {
    await this.#running?.ended;
  }

  look(): void {
    if (!this.isRunning) return;
    for (const process of descendantsOf(this.#running!.child.pid!))
      this.seen.set(`${process.pid}@${process.started}`, process);
  }

  /** Leaves no room on its disk. Returns false if it has none of its own. */
  fill(): boolean {
    if (!this.hasOwnDisk) return false;
    for (const size of [1 << 20, 4096])
      for (let n = 0; ; n++)
        try {
          writeFileSync(join(this.disk, `filler-${size}-${n}`), Buffer.alloc(size));
        } catch {
          break;
        }
    return true;
  }

  empty(): void {
    execFileSync('find', [this.disk, '-maxdepth', '1', '-name', 'filler-*', '-delete']);
  }

  get trail(): WorkerTrail {
    const path = join(this.disk, 'pungi', 'cluster', `${this.name}.jsonl`);
    const lines = [`${path}.1`, path]
      .filter(existsSync)
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'));
    return {
      worker: this.name,
      entries: lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line)),
    };
  }

  async close(): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGKILL');
    await this.ended();
    await this.link.close();
    if (this.hasOwnDisk) execFileSync('umount', ['-l', this.disk]);
    rmSync(this.disk, { recursive: true, force: true });
  }
}

function mountDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=1777`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
