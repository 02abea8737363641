import { fstatSync, type Stats } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { cutTo, LiveLine, oneLine, type Printed, type Style, widthOf } from '@pungi/core/base';
import type { OnStep } from '@pungi/core/contract';
import { CANCELLED } from './exit-codes.js';

export type Streams = Record<'stdout' | 'stderr', Printed>;

/** The terminal, or what else a command is connected to: that of this process, or of another one whose command this process runs. */
export interface Terminal extends Streams {
  stdin: AsyncIterable<Uint8Array | string>;
  /** Whether there is input for a script. A terminal is not read: the user would have to end the input before anything happens. */
  isPiped(): boolean;
  /** Calls back when the user wants to stop. Returns a function that stops listening. */
  onInterrupt(callback: () => void): () => void;
  /** Where a file lies that the user named. */
  at(path: string): string;
}

export const OWN_TERMINAL: Terminal = {
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  isPiped: () => isPiped(fstatSync(0)),
  onInterrupt,
  at: (path) => path,
};

export const isPiped = (stdin: Stats): boolean => stdin.isFIFO() || stdin.isFile() || stdin.isSocket();

/**
 * Calls back at the first Ctrl-C, SIGTERM or SIGHUP. A second one ends the process at once; processes of a run do not outlive
 * it. Returns a function that stops listening.
 */
export function onInterrupt(callback: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  let asked = false;
  const listener = (signal: NodeJS.Signals) => {
    if (asked) process.exit(CANCELLED);
    asked = true;
    callback(signal);
  };
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

export interface Column {
  heading: string;
  /** Right-aligned for numbers. */
  align?: 'right';
}

/** Formats a table. If a width is given, the last column is cut to it. */
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

/** Asks for a line on the terminal; end of input is an empty line. Rejects when the signal fires. */
export async function ask(question: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  // `terminal: false` keeps the system's line editing, and Ctrl-C as a signal.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  // After Ctrl-C or end of input the cursor is still on the line of the question.
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

/** Reports the steps of a long operation. */
interface Steps {
  readonly onStep: OnStep;
  /** Clears the line for other output; the next step is shown again. */
  clear(): void;
}

/** uv ends with a list of added and removed packages, which the result contains as well. */
const OF_RESULT = /^[+~-] /;

/** Shows one live line on a terminal, else a line per step. Standard output stays free for results. */
export function reportSteps({ prefix = '', quiet = false } = {}, stream: Printed = process.stderr): Steps {
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
  (report: OnStep): OnStep =>
  (message, share) => {
    const step = oneLine(message);
    if (!OF_RESULT.test(step)) report(step, share);
  };
