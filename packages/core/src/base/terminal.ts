import type { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

/** The SGR codes that begin and end each format. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

export type Format = keyof typeof CODES;
export type Style = (format: Format, text: string) => string;

/** A stream that a command prints to, which may be a terminal. */
export interface Printed extends Writable {
  isTTY?: boolean;
  columns?: number;
  hasColors?(): boolean;
}

/** Uses colours on a terminal, unless NO_COLOR is set. */
export function styleFor(stream: Printed): Style {
  const colourful = stream.isTTY && stream.hasColors?.();
  return (format, text) => {
    const [begin, end] = CODES[format];
    return colourful && text !== '' ? `\x1b[${begin}m${text}\x1b[${end}m` : text;
  };
}

/** Format sizes, times and counts for people. */
export function sizeText(megabytes: number): string {
  if (megabytes >= 1024) return `${(megabytes / 1024).toFixed(1)} GB`;
  return megabytes >= 10 || megabytes < 0.05 ? `${Math.round(megabytes)} MB` : `${megabytes.toFixed(1)} MB`;
}

export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

export function agoText(iso: string | null, now = Date.now()): string {
  if (iso === null) return 'never';
  const ms = now - Date.parse(iso);
  const unit = UNITS.find(([, size]) => ms >= size);
  if (unit === undefined) return 'just now';
  // Made when needed: every start would wait for its tables.
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return relative.format(-Math.floor(ms / unit[1]), unit[0]);
}

export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

// Control characters except tab and line feed, and bidirectional marks.
const UNSEEN = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/** Removes control sequences from foreign text, such as a description or a tool's output. */
export function printable(text: string): string {
  const plain = stripVTControlCharacters(text.replaceAll('\r\n', '\n'));
  return plain.replace(UNSEEN, (one) => (one === '\n' || one === '\t' ? one : '�'));
}

export const oneLine = (text: string): string => printable(text.replace(/\s+/g, ' ').trim());

export const indent = (text: string, by: string): string => printable(text).trimEnd().replace(/^/gm, by);

/** Escapes control characters instead of removing them, so that an auditor sees every character. */
export const revealed = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(UNSEEN, (one) => {
    if (one === '\n' || one === '\t') return one;
    return one < ' ' ? String.fromCharCode(0x2400 + one.charCodeAt(0)) : '�';
  });

export const revealedLine = (text: string): string => revealed(text.replace(/\s+/g, ' ').trim());

// Neither list is complete; a missing character shifts the cut by one column.
const WIDE =
  /^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6]$/u;
const UNSPACED = /^[\p{M}\u200B-\u200D]$/u;

function widthOfOne(character: string): number {
  if (UNSPACED.test(character)) return 0;
  return WIDE.test(character) || /^\p{Emoji_Presentation}$/u.test(character) ? 2 : 1;
}

/** Returns the columns that a line occupies on a terminal. */
export const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + widthOfOne(character), 0);

/** Returns the text, cut with an ellipsis if it is too wide. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let fitting = '';
  let width = 1;
  for (const character of text) {
    width += widthOfOne(character);
    if (width > columns) break;
    fitting += character;
  }
  return `${fitting.trimEnd()}…`;
}

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const FRAME_MS = 80;
const BAR_WIDTH = 16;
const CLEAR_LINE = '\r\x1b[2K';

/** A status line at the bottom of a terminal with the current step and its duration. It is erased at the end. */
export class LiveLine {
  #began = performance.now();
  #text = '';
  #share: number | undefined;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly stream: Printed) {}

  /** The text must be printable and one line. */
  show(text: string, share?: number): void {
    this.#text = text;
    // A step without progress keeps the previous progress.
    this.#share = share ?? this.#share;
    // Unreferenced, so that it does not keep the process alive.
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
    this.#draw();
  }

  clear(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.stream.write(CLEAR_LINE);
  }

  #draw(): void {
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const style = styleFor(this.stream);
    const elapsed = `${((performance.now() - this.#began) / 1000).toFixed(1)} s`;
    // The last column stays free: a full line would wrap, and clearing it would leave a part.
    const bar = this.#share === undefined ? '' : `${barOf(this.#share)} `;
    const text = cutTo(this.#text, (this.stream.columns || 80) - bar.length - elapsed.length - 5);
    const sign = style('cyan', FRAMES[this.#frame]!);
    this.stream.write(`${CLEAR_LINE}${sign} ${style('cyan', bar)}${text}  ${style('dim', elapsed)}`);
  }
}

function barOf(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return `${'━'.repeat(full)}${'╌'.repeat(BAR_WIDTH - full)}`;
}
