import { z } from 'zod';
import { printable } from '../base/terminal.js';
import type { Completion } from '../contract/prompt.js';

const MOST = 1000;
const LONGEST = 200;

/** In the form of completion.py. */
const Reported = z.object({
  completions: z.array(z.unknown()).catch([]),
  length: z.number().int().min(0).max(LONGEST).catch(0),
});

/** Foreign code can write any of it: only short texts remain, of characters that a terminal shows. */
export function readCompletion(report: unknown): Completion {
  const { completions = [], length = 0 } = Reported.safeParse(report).data ?? {};
  return { completions: completions.slice(0, MOST).filter(isShowable), length };
}

const isShowable = (text: unknown): text is string =>
  typeof text === 'string' &&
  text.length <= LONGEST &&
  text.isWellFormed?.() !== false &&
  !/[\n\t]/.test(text) &&
  printable(text) === text;
