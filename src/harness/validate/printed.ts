import type { Outcome, Output } from '../../contract/outcome.js';
import type { OutputLine, RunOptions } from '../../contract/run.js';
import { type PrintedVerdict, PrintedVerdicts } from './printed-verdicts.js';
import type { ScriptLog } from './script-result.js';

/** Lines with a time of their own; what comes after them is one text. */
const MOST_LINES = 1000;

/** What a script writes to its output: what it decides, and when its lines came. */
export class Printed {
  readonly #verdicts = new PrintedVerdicts();
  readonly #times: Record<OutputLine['stream'], number[]> = { stdout: [], stderr: [] };
  #began = 0;

  readonly listeners: Pick<RunOptions, 'onLine' | 'onOutput'> = {
    onLine: ({ stream }) => {
      const times = this.#times[stream];
      if (times.length < MOST_LINES) times.push(performance.now() - this.#began);
    },
    onOutput: (stream, data) => {
      if (stream === 'stdout') this.#verdicts.write(data);
    },
  };

  begin(): void {
    this.#began = performance.now();
  }

  verdicts(): PrintedVerdict[] {
    return this.#verdicts.finish();
  }

  /** All that the outcome keeps of the output: the head and the tail of each stream, with what is missing between them. */
  logs({ stdout, stderr, usage }: Outcome): ScriptLog[] {
    // A worker may have had to be made as well, which nobody measures.
    const since = (timeMs: number) =>
      Math.max(0, Math.round(Math.min(timeMs - usage.waitMs - usage.installMs, usage.wallMs)));
    const linesOf = ({ text }: Output, stream: OutputLine['stream']): ScriptLog[] => {
      if (text === '') return [];
      const lines = text.replace(/\n$/, '').split('\n');
      const times = this.#times[stream];
      const timed = lines.slice(0, MOST_LINES).map((message, index) => ({
        level: stream,
        message,
        timeMs: since(times[index] ?? times.at(-1) ?? 0),
      }));
      const rest = lines.slice(MOST_LINES);
      if (rest.length === 0) return timed;
      return [...timed, { level: stream, message: rest.join('\n'), timeMs: Math.round(usage.wallMs) }];
    };
    return [...linesOf(stdout, 'stdout'), ...linesOf(stderr, 'stderr')];
  }
}
