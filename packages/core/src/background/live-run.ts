import { randomBytes } from 'node:crypto';
import type { BackgroundRun } from '../contract/background.js';
import type { Outcome } from '../contract/outcome.js';

/** How much of the newest output is shown. */
const MOST_LINES = 100;
const MOST_CHARS = 8000;
const MOST_OF_A_LINE = 2000;
/** Long polls of one run at the same time; further ones are answered at once. */
const MOST_WAITING = 20;
/** Lines that come soon after each other are one answer. */
const GATHER_MS = 500;

/** Nobody can guess it. */
export const newHandle = (): string => `run-${randomBytes(16).toString('base64url')}`;

/** A background run of this server that has not ended, or whose outcome could not be stored. */
export class LiveRun {
  readonly #stop = new AbortController();
  readonly #waiting = new Set<(what: 'line' | 'end') => void>();
  #lines: string[] = [];
  #chars = 0;
  #count = 0;
  #seen = 0;
  #step: string | undefined;
  #hasStarted = false;
  #outcome: Outcome | undefined;
  #endedAt = '';
  /** Resolves when the outcome is stored, or could not be. */
  done: Promise<void> = Promise.resolve();
  /** Why it was cancelled, if its owner did not ask for it. */
  stopped: string | undefined;

  constructor(
    readonly owner: string,
    readonly run = newHandle(),
    readonly acceptedAt = new Date().toISOString(),
  ) {}

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  start(): void {
    this.#hasStarted = true;
    this.#step = undefined;
  }

  note(step: string): void {
    this.#step = step.slice(0, MOST_OF_A_LINE);
  }

  add(line: string): void {
    const shown = line.slice(0, MOST_OF_A_LINE);
    this.#lines.push(shown);
    this.#chars += shown.length;
    this.#count += 1;
    while (this.#lines.length > MOST_LINES || this.#chars > MOST_CHARS)
      this.#chars -= this.#lines.shift()!.length;
    for (const notify of this.#waiting) notify('line');
  }

  end(outcome: Outcome): void {
    this.#outcome = outcome;
    this.#endedAt = new Date().toISOString();
    for (const notify of [...this.#waiting]) notify('end');
  }

  cancel(): void {
    this.#stop.abort();
  }

  /** Resolves when it has ended, when there are lines that were not shown, or after this time. */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    const isPointless = ms <= 0 || this.#outcome !== undefined || signal?.aborted === true;
    if (isPointless || this.#waiting.size >= MOST_WAITING) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(late);
        clearTimeout(gathered);
        this.#waiting.delete(notify);
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      let gathered: NodeJS.Timeout | undefined;
      const notify = (what: 'line' | 'end') => {
        if (what === 'end') finish();
        else gathered ??= setTimeout(finish, GATHER_MS);
      };
      const late = setTimeout(finish, ms);
      this.#waiting.add(notify);
      signal?.addEventListener('abort', finish, { once: true });
      if (this.#count > this.#seen) notify('line');
    });
  }

  describe(): BackgroundRun {
    this.#seen = this.#count;
    const { run, acceptedAt } = this;
    const about = { run, state: this.state, acceptedAt };
    if (this.#outcome !== undefined) return { ...about, endedAt: this.#endedAt, outcome: this.#outcome };
    const step = this.#step === undefined ? {} : { step: this.#step };
    return { ...about, ...step, lines: [...this.#lines], lineCount: this.#count };
  }

  get state(): BackgroundRun['state'] {
    if (this.#outcome !== undefined) return 'ended';
    return this.#hasStarted ? 'running' : 'waiting';
  }
}
