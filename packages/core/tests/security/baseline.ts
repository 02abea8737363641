import { setTimeout as sleep } from 'node:timers/promises';
import type { Pungi } from '../../src/pungi.js';
import { filesBelow } from './files-below.js';
import { descendantsOf } from './process-tree.js';

/** On a busy machine the files of a run that made tens of thousands are not removed in a few seconds. */
const TIMEOUT_MS = 15_000;

/** How many processes and temporary files Pungi needs with its pool full: after a row there must not be more. */
export class Baseline {
  private constructor(
    private readonly pungi: Pungi,
    private readonly folder: string,
    private processes: number,
    private files: number,
  ) {}

  static async remember(pungi: Pungi, folder: string): Promise<Baseline> {
    const baseline = new Baseline(pungi, folder, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    const problems = await baseline.problems();
    if (problems.length > 0) throw new Error(problems.join('; '));
    await sleep(300);
    baseline.processes = baseline.living().length;
    baseline.files = baseline.leftFiles().length;
    return baseline;
  }

  leftFiles(): string[] {
    return filesBelow(this.folder);
  }

  private living() {
    return descendantsOf(process.ppid);
  }

  /** Waits for the pool to be full again, then counts. */
  async problems(): Promise<string[]> {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      const found = await this.look();
      if (found.length === 0 || performance.now() > deadline) return found;
      await sleep(10);
    }
  }

  private async look(): Promise<string[]> {
    const { pool } = await this.pungi.health();
    if (pool.parked !== pool.target || pool.parking !== 0 || pool.busy !== 0) {
      return [`the pool does not settle: ${JSON.stringify(pool)}`];
    }
    const living = this.living();
    const files = this.leftFiles();
    return [
      ...(living.length > this.processes
        ? [
            `${living.length - this.processes} processes are left: ${living.map(({ pid, command }) => `${pid} ${command}`).join(', ')}`,
          ]
        : []),
      ...(files.length > this.files
        ? [`${files.length - this.files} files are left: ${files.slice(0, 20).join(', ')}`]
        : []),
    ];
  }
}
