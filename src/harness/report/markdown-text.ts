import { shownLine } from './evidence.js';

/** Everything that Markdown, and what GitHub and GitLab add to it, could take for more than a character. */
const SPECIAL = /[&<>|*_`~[\]\\#@!$:^{}=]|(?<=\bwww)\./g;

/** Mentions are looked for after entities have been read, so that a space of no width must part them. */
const PARTED = /[#@!]/;

/** Foreign words as nothing but words: no markup, no link, and nobody is notified. */
export const prose = (text: string, chars?: number): string =>
  shownLine(text, chars).replace(SPECIAL, (one) => entity(one) + (PARTED.test(one) ? '&#8203;' : ''));

/** The same as code, where the platforms look for no mentions. Not in backticks: a table would end at a bar. */
export const code = (text: string): string => `<code>${shownLine(text).replace(SPECIAL, entity)}</code>`;

const entity = (one: string): string => `&#${one.charCodeAt(0)};`;

/** A block whose fence is longer than any in the text. */
export function fenced(text: string, language: 'diff' | 'json' | 'text'): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

export const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
