import { type KeptOutput, OUTPUT_PARTS } from '@pungi/core';
import { countText, PungiError } from '@pungi/core/base';
import { z } from 'zod';
import { budgetOf, halfOf } from '../fit.js';
import { advertiseArguments, READ_ONLY } from './advertise.js';
import { answer, reply, type Tool } from './tool.js';

export const READ_OUTPUT = 'read_output';

const Arguments = z
  .strictObject({
    run: z.string().max(100).describe('Its id'),
    part: z.enum(OUTPUT_PARTS).optional().describe('stdout if not given'),
    offset: z.number().int().min(0).optional().describe('From this character'),
    tail: z.number().int().positive().optional().describe('Or the last lines'),
    search: z.string().min(1).max(1000).optional().describe('Or lines with this text'),
  })
  .refine(
    ({ offset, tail, search }) => [offset, tail, search].filter((one) => one !== undefined).length <= 1,
    'give one of offset, tail and search',
  );
type Arguments = z.infer<typeof Arguments>;

const Page = z.object({
  text: z.string(),
  offset: z.number().int().optional().describe('of the first character of the text'),
  next: z.number().int().optional().describe('the offset to go on with'),
  total: z.number().int().describe('characters of the whole output'),
  matches: z.number().int().optional().describe('lines with the searched text'),
});
type Page = z.infer<typeof Page>;

export const readOutput = (): Tool => ({
  name: READ_OUTPUT,
  title: 'Read long output',
  description: 'Read on in the output of a run whose reply was cut.',
  annotations: READ_ONLY,
  inputSchema: advertiseArguments(Arguments),
  answer: (args, call) =>
    answer(Arguments, args, call, async (asked, { caller }) => {
      const { pungi } = call;
      const output = pungi.outputs.read(caller, asked.run);
      if (output === undefined) throw notKept(asked.run, pungi.config.outputStoreSeconds);
      return reply(call, pageOf(output, asked, halfOf(budgetOf(pungi.config))), formatPage);
    }),
});

export const notKept = (run: string, seconds: number) =>
  new PungiError(
    'INVALID_INPUT',
    `There is no output of the run ${JSON.stringify(run)}: outputs that were too long for their reply are kept for ${seconds} s, as long as there is room. Run the code again, and print less.`,
    { run },
  );

/** Room of a page for its other fields, and for the line below its text. */
const BESIDE_CHARS = 200;

function pageOf(
  output: KeptOutput,
  { part = 'stdout', offset, tail, search }: Arguments,
  most: number,
): Page {
  const text = output[part];
  const room = most - BESIDE_CHARS;
  if (search !== undefined) return searchPage(text, search, room);
  if (tail === undefined) return pageFrom(text, offset ?? 0, room);
  return pageFrom(text, Math.max(tailOffset(text, tail), text.length - longestTail(text, room)), room);
}

/** As many characters as fit, but not half of a surrogate pair. */
function pageFrom(text: string, offset: number, room: number): Page {
  const start = Math.min(offset, text.length);
  let end = start + fittingLength(text, start, room);
  if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!) && end > start + 1) end -= 1;
  const next = end < text.length ? { next: end } : {};
  return { text: text.slice(start, end), offset: start, ...next, total: text.length };
}

/** How many characters from a place on have at most so many characters of JSON. */
function fittingLength(text: string, start: number, room: number): number {
  let length = Math.min(room, text.length - start);
  while (length > 1 && JSON.stringify(text.slice(start, start + length)).length > room)
    length = Math.floor(length * 0.8);
  return length;
}

function longestTail(text: string, room: number): number {
  let length = Math.min(room, text.length);
  while (length > 1 && JSON.stringify(text.slice(text.length - length)).length > room)
    length = Math.floor(length * 0.8);
  return length;
}

/** Where the last lines begin. */
function tailOffset(text: string, lines: number): number {
  let at = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let left = lines; left > 0 && at >= 0; left -= 1) at = text.lastIndexOf('\n', at - 1);
  return at + 1;
}

/**
 * Each line with its offset, so that its surroundings can be read; of a long line, the piece with the text. A plain text: a pattern
 * could take forever.
 */
function searchPage(text: string, search: string, room: number): Page {
  const found: string[] = [];
  let matches = 0;
  let used = 0;
  for (let at = text.indexOf(search); at >= 0; ) {
    matches += 1;
    const start = text.lastIndexOf('\n', at) + 1;
    const end = text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at);
    const from = at + search.length <= start + MAX_LINE ? start : Math.max(start, at - CHARS_BEFORE);
    const to = Math.min(end, from + MAX_LINE);
    const line = `${from}: ${text.slice(from, to)}`;
    used += JSON.stringify(line).length + 2;
    if (used <= room) found.push(line);
    const after = to < end ? Math.max(to, at + 1) : end + 1;
    at = after > text.length ? -1 : text.indexOf(search, after);
  }
  return { text: found.join('\n'), total: text.length, matches };
}

const MAX_LINE = 500;
const CHARS_BEFORE = 100;

function formatPage({ text, offset, next, total, matches }: Page): string {
  if (matches !== undefined) return `${countText(matches, 'line')}, each with its offset:\n${text}`;
  const end = (offset ?? 0) + text.length;
  const more = next === undefined ? '' : `; go on with offset ${next}`;
  return `${text}\n[characters ${offset} to ${end} of ${total}${more}]`;
}
