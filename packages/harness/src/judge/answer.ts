import { createContext, Script } from 'node:vm';
import { isShallowJson } from '@pungi/core/base';
import { type Selected, select } from './select.js';

/** A deeper answer is not checked: the checks are recursive. */
export const MAX_DEPTH = 256;

export const isTooDeep = (value: unknown): boolean => !isShallowJson(value, MAX_DEPTH);

/** The end of a call that can be judged. The runner reports timeouts and crashed servers. */
export type Answer =
  | { kind: 'result'; of: 'tool' | 'resource' | 'prompt'; result: unknown }
  | { kind: 'error'; code: number; message: string; data?: unknown }
  | { kind: 'cancelled' };

export type JsonMap = Record<string, unknown>;

/** Fields that the protocol adds to every result: not part of the answer, and different between eras. */
const ENVELOPE = new Set(['_meta', 'resultType', 'ttlMs', 'cacheScope']);
const MAX_JSON_TEXT = 1024 * 1024;

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const itemsOf = (value: unknown): JsonMap[] => (Array.isArray(value) ? value.filter(isMap) : []);

/** The answer without the envelope. */
export function wholeOf(answer: Answer): unknown {
  if (answer.kind === 'cancelled') return null;
  if (answer.kind === 'error') {
    const { code, message, data } = answer;
    return { error: data === undefined ? { code, message } : { code, message, data } };
  }
  if (!isMap(answer.result)) return answer.result;
  return Object.fromEntries(Object.entries(answer.result).filter(([key]) => !ENVELOPE.has(key)));
}

export const isErrorResult = (answer: Answer): boolean =>
  answer.kind === 'result' && isMap(answer.result) && answer.result['isError'] === true;

/** All text of an answer, joined by lines; the message of an error. */
export function textOf(answer: Answer): string {
  if (answer.kind === 'cancelled') return '';
  if (answer.kind === 'error') return answer.message;
  return textsOf(answer).join('\n');
}

function textsOf(answer: Answer & { kind: 'result' }): string[] {
  const result = isMap(answer.result) ? answer.result : {};
  const blocks =
    answer.of === 'tool'
      ? itemsOf(result['content'])
      : answer.of === 'resource'
        ? itemsOf(result['contents'])
        : itemsOf(result['messages']).flatMap(({ content }) =>
            isMap(content) ? [content] : itemsOf(content),
          );
  return blocks.flatMap((block) => {
    const { text } = isMap(block['resource']) ? block['resource'] : block;
    return typeof text === 'string' ? [text] : [];
  });
}

/** Parses a text that is a JSON object or array: many servers answer in JSON without declaring it. */
export function jsonIn(text: string): unknown[] {
  if (text.length > MAX_JSON_TEXT || !/^\s*[[{]/.test(text)) return [];
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? [] : [value];
  } catch {
    return [];
  }
}

const jsonInOnly = (texts: readonly string[]) => (texts.length === 1 ? jsonIn(texts[0]!) : []);

/**
 * The documents that `equals` and schemas are compared with, the likeliest first: the structured content if there is any; else
 * the content (of resources and prompts: the result), the JSON in the text, and the text.
 */
export function documentsOf(answer: Answer): unknown[] {
  const whole = wholeOf(answer);
  if (answer.kind !== 'result') return [whole];
  if (answer.of === 'tool' && isMap(whole) && whole['structuredContent'] !== undefined)
    return [whole['structuredContent']];
  const texts = textsOf(answer);
  const first = answer.of === 'tool' && isMap(whole) && 'content' in whole ? whole['content'] : whole;
  return [first, ...jsonInOnly(texts), ...(texts.length > 0 ? [texts.join('\n')] : [])];
}

/**
 * The documents that paths are applied to: the first in which they select something. So `$.total` finds structured content, and
 * `$[0].text`, `$.content[0].text` and `$.isError` find what they name.
 */
export function viewsOf(answer: Answer): unknown[] {
  const whole = wholeOf(answer);
  if (answer.kind !== 'result' || !isMap(whole)) return [whole];
  const texts = textsOf(answer);
  if (answer.of === 'resource') return [withContent(whole, texts), ...jsonInOnly(texts)];
  if (answer.of === 'prompt') return [whole];
  const structured = whole['structuredContent'];
  return [
    ...(structured === undefined ? [] : [structured]),
    ...(whole['content'] === undefined ? [] : [whole['content']]),
    whole,
    ...(structured === undefined ? jsonInOnly(texts) : []),
  ];
}

/** Most resources have one content; `content` is its text, or its bytes in base64. */
function withContent(whole: JsonMap, texts: readonly string[]): JsonMap {
  if ('content' in whole) return whole;
  const blobs = itemsOf(whole['contents']).flatMap(({ blob }) => (typeof blob === 'string' ? [blob] : []));
  const parts = texts.length > 0 ? texts : blobs;
  return parts.length === 0 ? whole : { ...whole, content: parts.join('\n') };
}

interface Found {
  view: unknown;
  selected: Selected[];
}

/** Returns what a path selects in the first view with a match; without a match, the likeliest view. */
export function lookUp(views: readonly unknown[], path: string): Found {
  for (const view of views) {
    const selected = select(view, path);
    if (selected.length > 0) return { view, selected };
  }
  return { view: views[0], selected: [] };
}

interface Captured {
  values: Record<string, unknown>;
  /** One sentence per variable without a value. */
  problems: string[];
}

const MAX_MS = 3000;

/** Extracts variables from an answer. A path that selects several values gives a list. */
export function capture(wanted: Readonly<Record<string, string>>, answer: Answer): Captured {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  if (answer.kind === 'result' && isTooDeep(answer.result))
    return { values, problems: [`The answer is nested more than ${MAX_DEPTH} levels deep.`] };
  const views = viewsOf(answer);
  for (const [name, path] of Object.entries(wanted)) {
    const isInTime = withinTime(MAX_MS, () => {
      try {
        const { selected } = lookUp(views, path);
        if (selected.length === 0)
          problems.push(`Nothing was captured for "${name}": there is no ${path} in the answer.`);
        else values[name] = selected.length === 1 ? selected[0]!.value : selected.map(({ value }) => value);
      } catch (error) {
        problems.push(
          `Nothing was captured for "${name}": ${path} cannot be used: ${(error as Error).message}`,
        );
      }
    });
    if (!isInTime) problems.push(`Nothing was captured for "${name}": evaluating ${path} took too long.`);
  }
  return { values, problems };
}

/**
 * Patterns come from the specification and texts from the server under test: together they can take hours. V8 interrupts even a
 * regular expression in a script with a time limit, so all judging runs inside one.
 */
const CONTEXT = createContext({ work: undefined }) as { work: (() => void) | undefined };
const CALL = new Script('work()');

/** Returns false if the time limit was reached; completed work stays. */
export function withinTime(milliseconds: number, work: () => void): boolean {
  const before = CONTEXT.work;
  CONTEXT.work = work;
  try {
    CALL.runInContext(CONTEXT, { timeout: milliseconds });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  } finally {
    CONTEXT.work = before;
  }
}
