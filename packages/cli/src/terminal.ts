import { createInterface } from 'node:readline/promises';
import { cutTo, LiveLine, oneLine, type Style, widthOf } from '@pungi/core/base';
import type { OnStep } from '@pungi/core/contract';

export interface Column {
  heading: string;
  /** Numbers are compared by their ends. */
  align?: 'right';
}

/** Columns side by side. Where a width is given, the last column is cut to it. */
export function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width = Number.POSITIVE_INFINITY }: { style: Style; width?: number | undefined },
): string {
  const widths = columns.map(({ heading }, index) =>
    Math.max(heading.length, ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  const line = (cells: readonly string[]) => {
    const padded = columns.map(({ align }, index) => {
      const cell = cells[index] ?? '';
      const space = ' '.repeat(widths[index]! - widthOf(cell));
      return align === 'right' ? space + cell : cell + space;
    });
    return cutTo(padded.join('  ').trimEnd(), width);
  };
  const heading = style('dim', line(columns.map((column) => column.heading)));
  return [heading, ...rows.map(line)].map((text) => `${text}\n`).join('');
}

/** Whether there is a person to ask. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Asks the person at the terminal for a line; an end of input is an empty one. Rejects when the signal comes. */
export async function ask(question: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  // Not as a terminal: the system's own line editing then stays on, and with it Ctrl-C as a signal.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  // Neither Ctrl-C nor the end of input leaves the line of the question; what follows has one of its own.
  const leaveLine = () => process.stderr.write('\n');
  try {
    const answer = await Promise.race([lines.question(question, { signal }), ended]);
    if (answer === undefined) leaveLine();
    return answer?.trim() ?? '';
  } catch (error) {
    leaveLine();
    throw signal.aborted ? signal.reason : error;
  } finally {
    lines.close();
  }
}

/** Reports the steps of something that takes its time. */
interface Steps {
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
