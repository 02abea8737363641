import { LiveLine, styleFor } from '@pungi/core/base';
import type { TestReport, TestResult } from '@pungi/core/contract';
import { withoutCommands } from './ci.js';
import { shownLine } from './evidence.js';
import { endOfReport, failedTest, passedTest } from './terminal-end.js';

/** The tests of a run. */
interface RunPlan {
  suites: readonly { file: string; tests: number }[];
}

interface TerminalOptions {
  stream: NodeJS.WriteStream;
  /** Prints every test, and more of what was sent and received. */
  verbose?: boolean;
  /** CI runners execute some log lines as commands; text of the server must not contain them. */
  inCi?: boolean;
  now?: () => number;
}

/** Without a live line, progress is printed after this time. */
const PROGRESS_INTERVAL_MS = 15_000;

/**
 * Reports a run on a terminal: progress on one live line, failures in full at once, and a summary, which is one line if all
 * tests pass. Without a terminal there is no live line.
 */
export class TerminalReporter {
  readonly #stream: NodeJS.WriteStream;
  readonly #options: TerminalOptions;
  readonly #now: () => number;
  #line: LiveLine | undefined;
  #total = 0;
  #severalFiles = false;
  #ended = 0;
  #failed = 0;
  #running: string[] = [];
  #lastWrite = 0;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#stream = options.stream;
    this.#now = options.now ?? (() => performance.now());
  }

  started(plan: RunPlan): void {
    this.stop();
    this.#total = plan.suites.reduce((sum, { tests }) => sum + tests, 0);
    this.#severalFiles = plan.suites.length > 1;
    this.#ended = 0;
    this.#failed = 0;
    this.#running = [];
    this.#lastWrite = this.#now();
    const isLive = this.#stream.isTTY && process.env['TERM'] !== 'dumb';
    this.#line = isLive ? new LiveLine(this.#stream) : undefined;
    this.#show();
  }

  testStarted(id: string): void {
    this.#running.push(id);
    this.#show();
  }

  /** `file` is the specification; it is shown if there are several. */
  testEnded(result: TestResult, file?: string): void {
    const at = this.#running.indexOf(result.id);
    if (at >= 0) this.#running.splice(at, 1);
    this.#ended += 1;
    if (result.status === 'failed') this.#failed += 1;
    const text = this.#format(result, this.#severalFiles ? file : undefined);
    if (text !== '') this.#write(text);
    else this.#giveSignOfLife();
    this.#show();
  }

  ended(report: TestReport): void {
    this.stop();
    this.#write(endOfReport(report, styleFor(this.#stream), this.#options.verbose === true));
  }

  /** Removes the live line, as when a run is aborted. */
  stop(): void {
    this.#line?.clear();
    this.#line = undefined;
  }

  #format(result: TestResult, file: string | undefined): string {
    const style = styleFor(this.#stream);
    const verbose = this.#options.verbose === true;
    if (result.status === 'failed') return failedTest(result, { style, verbose, file });
    return verbose ? passedTest(result, style, file) : '';
  }

  #write(text: string): void {
    this.#line?.clear();
    this.#stream.write(this.#options.inCi ? withoutCommands(text) : text);
    this.#lastWrite = this.#now();
  }

  #giveSignOfLife(): void {
    if (this.#line !== undefined || this.#now() - this.#lastWrite < PROGRESS_INTERVAL_MS) return;
    this.#write(`… ${this.#progress()}\n`);
  }

  #progress(): string {
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`;
    return `${this.#ended} of ${this.#total}${failed}`;
  }

  #show(): void {
    if (this.#line === undefined) return;
    // The test that has been running longest is the most interesting one.
    const [first, ...others] = this.#running;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const doing = first === undefined ? '' : `  ${shownLine(first, 120)}${more}`;
    this.#line.show(`${this.#progress()}${doing}`, this.#total === 0 ? undefined : this.#ended / this.#total);
  }
}
