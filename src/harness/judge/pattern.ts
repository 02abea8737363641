import { cut } from './shown.js';

/** What is looked at of a text: more makes a pattern slow, and nobody means more. */
export const MAX_MATCHED = 256 * 1024;
const MAX_KEPT = 1000;

const kept = new Map<string, RegExp>();

/**
 * A regular expression of JavaScript. Two habits of others are understood: flags at the beginning, such as (?i), and
 * groups that are named by (?P<name>…). Throws a SyntaxError where it is none.
 */
export function compilePattern(pattern: string): RegExp {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  const [, flags = '', rest = ''] = /^(?:\(\?([ims]+)\))?(.*)$/s.exec(pattern)!;
  const source = rest.replaceAll('(?P<', '(?<');
  const single = [...new Set(flags)].join('');
  let made: RegExp;
  try {
    made = new RegExp(source, `${single}u`);
  } catch {
    // Without u, needless backslashes are forgiven.
    made = new RegExp(source, single);
  }
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(pattern, made);
  return made;
}

/** Why a pattern cannot be used; undefined where it can. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    const [, reason = 'it cannot be read'] = /: ([^:]+)$/.exec((error as Error).message) ?? [];
    return `is not a regular expression: ${cut(reason.toLowerCase(), 100)}`;
  }
}

export interface Match {
  matches: boolean;
  /** To add to a sentence, where not all of the text was looked at. */
  note: string;
}

export function matchPattern(pattern: string, text: string): Match {
  const isCut = text.length > MAX_MATCHED;
  return {
    matches: compilePattern(pattern).test(isCut ? text.slice(0, MAX_MATCHED) : text),
    note: isCut ? ` (of its ${text.length} characters, the first ${MAX_MATCHED} were looked at)` : '',
  };
}
