import type { Expected } from '../../contract/spec.js';
import type { Failure } from '../../contract/test-report.js';
import { failure } from './failure.js';
import { matchPattern, patternProblem } from './pattern.js';
import { shown } from './shown.js';

const list = (texts: string | string[] | undefined): string[] => [texts ?? []].flat();

export function judgeText(expected: Expected, text: string): Failure[] {
  const { text_contains: wanted, text_not_contains: unwanted, text_pattern: pattern } = expected;
  const missing = list(wanted).filter((part) => !text.includes(part));
  const present = list(unwanted).filter((part) => text.includes(part));
  return [
    ...missing.map((part) =>
      failure(`The text should contain ${shown(part)}, and is ${shown(text)}.`, {
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

/** Where it is, with a little of what stands about it. */
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
  const sentence = `${what} should match /${pattern}/, and is ${shown(text)}${note}.`;
  return [failure(sentence, { expected: pattern, actual: text })];
}
