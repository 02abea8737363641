import { LiveLine, styleFor } from '@pungi/core/base';
import type { TestReport, TestResult } from '@pungi/core/contract';
import { withoutCommands } from './ci.js';
import { shownLine } from './evidence.js';
import { endOfReport, failedTest, passedTest } from './terminal-end.js';

/** What is going to be tested. */
export interface RunPlan {
  suites: readonly { file: string; tests: number }[];
}

export interface TerminalOptions {
  stream: NodeJS.WriteStream;
  /** A line for every test, and more of what was sent and received. */
  verbose?: boolean;
  /** Runners take some lines of the log for commands; words of the server must not be among them. */
  inCi?: boolean;
  now?: () => number;
}

/** Where there is no live line, a sign of life after so long. */
const SIGN_OF_LIFE_MS = 15_000;

/**
 * A run as somebody at a terminal follows it: what is going on in one live line, what fails in full at once, and a
 * summary that is one line when all is well. Elsewhere than on a terminal there is no live line.
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
    const lively = this.#stream.isTTY && process.env['TERM'] !== 'dumb';
    this.#line = lively ? new LiveLine(this.#stream) : undefined;
    this.#show();
  }

  testStarted(id: string): void {
    this.#running.push(id);
    this.#show();
  }

  /** The file is the specification's; it is told where there are several. */
  testEnded(result: TestResult, file?: string): void {
    const at = this.#running.indexOf(result.id);
    if (at >= 0) this.#running.splice(at, 1);
    this.#ended += 1;
    if (result.status === 'failed') this.#failed += 1;
    const told = this.#tell(result, this.#severalFiles ? file : undefined);
    if (told !== '') this.#write(told);
    else this.#giveSignOfLife();
    this.#show();
  }

  ended(report: TestReport): void {
    this.stop();
    this.#write(endOfReport(report, styleFor(this.#stream), this.#options.verbose === true));
  }

  /** Takes the live line away, as when a run is broken off. */
  stop(): void {
    this.#line?.clear();
    this.#line = undefined;
  }

  #tell(result: TestResult, file: string | undefined): string {
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
    if (this.#line !== undefined || this.#now() - this.#lastWrite < SIGN_OF_LIFE_MS) return;
    this.#write(`… ${this.#progress()}\n`);
  }

  #progress(): string {
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} failed`;
    return `${this.#ended} of ${this.#total}${failed}`;
  }

  #show(): void {
    if (this.#line === undefined) return;
    // The one that has been running for the longest is the one that somebody waits for.
    const [first, ...others] = this.#running;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const doing = first === undefined ? '' : `  ${shownLine(first, 120)}${more}`;
    this.#line.show(`${this.#progress()}${doing}`, this.#total === 0 ? undefined : this.#ended / this.#total);
  }
}
