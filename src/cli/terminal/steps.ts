import { LiveLine, oneLine } from '../../base/terminal.js';
import type { OnStep } from '../../contract/environment.js';

/** Where the steps of something that takes its time are told. */
export interface Steps {
  readonly onStep: OnStep;
  /** Makes room for other output; the next step is shown again. */
  clear(): void;
}

/** Tools end with a list of what came and went, which the result tells as well. */
const OF_RESULT = /^[+~-] /;

/** On a terminal one live line, elsewhere a line for each step. Standard output stays free for results. */
export function tellSteps({ prefix = '', quiet = false } = {}, stream = process.stderr): Steps {
  if (stream.isTTY && process.env['TERM'] !== 'dumb') {
    const line = new LiveLine(stream);
    return { onStep: unlessOfResult((step, share) => line.show(step, share)), clear: () => line.clear() };
  }
  let last = '';
  const onStep = (step: string) => {
    if (step !== last && !quiet) stream.write(`${prefix}${step}\n`);
    last = step;
  };
  return { onStep: unlessOfResult(onStep), clear: () => {} };
}

const unlessOfResult =
  (tell: OnStep): OnStep =>
  (message, share) => {
    const step = oneLine(message);
    if (!OF_RESULT.test(step)) tell(step, share);
  };
