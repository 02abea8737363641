import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome } from '../../src/contract/outcome.js';
import type { Pungi } from '../../src/pungi.js';
import type { TableRun } from './table-run.js';

const PATIENCE_MS = 5000;

/** Another run beside an attack. It ticks; it must still tick afterwards, and must not have noticed anything. */
export class Victim {
  private ticks = 0;
  private readonly lines: string[] = [];
  private readonly abort = new AbortController();
  private outcome: Outcome | undefined;
  private readonly ended: Promise<Outcome>;

  private constructor(pungi: Pungi, { canary, victimCode }: TableRun) {
    this.ended = pungi.run(
      { code: victimCode, context: { secret: canary } },
      { caller: { client: 'victim' }, signal: this.abort.signal, onLine: ({ text }) => this.hear(text) },
    );
    this.ended.then((outcome) => {
      this.outcome = outcome;
    });
  }

  static async start(pungi: Pungi, table: TableRun): Promise<Victim> {
    const victim = new Victim(pungi, table);
    await victim.until(() => victim.ticks > 0);
    if (victim.ticks === 0) throw new Error(`the victim did not start: ${JSON.stringify(victim.outcome)}`);
    return victim;
  }

  get about(): { pid: number; cwd: string } {
    const [, pid, cwd = ''] = this.lines[0]?.split(' ') ?? [];
    return { pid: Number(pid), cwd };
  }

  async end(): Promise<string[]> {
    const before = this.ticks;
    await this.until(() => this.ticks > before + 1);
    const problems = this.lines.slice(1).map((line) => `the victim said "${line}"`);
    if (this.ticks <= before + 1)
      problems.push(`the victim stopped: ${JSON.stringify(this.outcome?.verdict ?? 'silent')}`);
    this.abort.abort();
    const { verdict } = await this.ended;
    if (verdict.kind !== 'cancelled') problems.push(`the victim ended as ${JSON.stringify(verdict)}`);
    return problems;
  }

  private hear(line: string): void {
    const said = line.trimEnd();
    if (said === 'tick') this.ticks += 1;
    else this.lines.push(said);
  }

  private async until(isTrue: () => boolean): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!isTrue() && !this.outcome && performance.now() < deadline) await sleep(5);
  }
}
