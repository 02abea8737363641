import type { Expected, Failure } from '@pungi/core/contract';
import { failure } from './failure.js';
import { cut, shown } from './shown.js';

const list = (texts: string | string[] | undefined): string[] => [texts ?? []].flat();

export function judgeText(expected: Expected, text: string): Failure[] {
  const { text_contains: wanted, text_not_contains: unwanted, text_pattern: pattern } = expected;
  const missing = list(wanted).filter((part) => !text.includes(part));
  const present = list(unwanted).filter((part) => text.includes(part));
  return [
    ...missing.map((part) =>
      failure(`The text should contain ${shown(part)} but is ${shown(text)}.`, {
        expected: part,
        actual: text,
      }),
    ),
    ...present.map((part) =>
      failure(`The text should not contain ${shown(part)}: ${around(text, part)}.`, { actual: text }),
    ),
    ...(pattern === undefined ? [] : judgePattern('The text', pattern, text)),
  ];
}

/** The match, with some surrounding text. */
function around(text: string, part: string): string {
  const at = text.indexOf(part);
  const start = Math.max(0, at - 20);
  const end = at + part.length + 20;
  return shown(`${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`);
}

export function judgePattern(what: string, pattern: string, text: string): Failure[] {
  const invalid = patternProblem(pattern);
  if (invalid !== undefined) return [failure(`The pattern ${shown(pattern)} ${invalid}.`)];
  const { matches, note } = matchPattern(pattern, text);
  if (matches) return [];
  const sentence = `${what} should match /${pattern}/ but is ${shown(text)}${note}.`;
  return [failure(sentence, { expected: pattern, actual: text })];
}

/** The part of a text that patterns see: more makes them slow. */
export const MAX_MATCHED = 256 * 1024;
const MAX_KEPT = 1000;

const kept = new Map<string, RegExp>();

/**
 * Compiles a regular expression of JavaScript, with two extensions: leading flags, such as (?i), and groups named by
 * (?P<name>…). Throws a SyntaxError if it is invalid.
 */
function compilePattern(pattern: string): RegExp {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(pattern)!;
  const source = rest.replaceAll('(?P<', '(?<');
  const single = [...new Set(flags)].join('');
  let made: RegExp;
  try {
    made = new RegExp(source, `${single}u`);
  } catch {
    // Without the flag u, unnecessary backslashes are allowed.
    made = new RegExp(source, single);
  }
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(pattern, made);
  return made;
}

/** Returns why a pattern is invalid; undefined if it is valid. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    const [, reason = 'it cannot be read'] = /: ([^:]+)$/.exec((error as Error).message) ?? [];
    return `is not a regular expression: ${cut(reason.toLowerCase(), 100)}`;
  }
}

interface Match {
  matches: boolean;
  /** A note for a message, if only part of the text was matched. */
  note: string;
}

export function matchPattern(pattern: string, text: string): Match {
  const isCut = text.length > MAX_MATCHED;
  return {
    matches: compilePattern(pattern).test(isCut ? text.slice(0, MAX_MATCHED) : text),
    note: isCut ? ` (only the first ${MAX_MATCHED} of ${text.length} characters were matched)` : '',
  };
}
