import { createContext, Script } from 'node:vm';
import { isShallowJson } from '@pungi/core/base';
import { type Selected, select } from './select.js';

/** An answer nested deeper than this is not looked into: whatever looks into it calls itself for each level. */
export const MAX_DEPTH = 256;

export const isTooDeep = (value: unknown): boolean => !isShallowJson(value, MAX_DEPTH);

/** How a call ended, as far as it can be judged. Time-outs and servers that died are the runner's to tell. */
export type Answer =
  | { kind: 'result'; of: 'tool' | 'resource' | 'prompt'; result: unknown }
  | { kind: 'error'; code: number; message: string; data?: unknown }
  | { kind: 'cancelled' };

export type JsonMap = Record<string, unknown>;

/** What the protocol adds to every result: not a part of the answer, and different from era to era. */
const ENVELOPE = new Set(['_meta', 'resultType', 'ttlMs', 'cacheScope']);
const MAX_JSON_TEXT = 1024 * 1024;

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const itemsOf = (value: unknown): JsonMap[] => (Array.isArray(value) ? value.filter(isMap) : []);

/** The answer as it came, without the envelope. */
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

/** All text of an answer, its parts one below the other; of an error, the message. */
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

/** Many servers answer in JSON without saying so: the text, where it is an object or an array. */
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
 * What `equals` and schemas are held against, the likeliest first: the structured content where there is any; else the
 * content (of resources and prompts: the result), the JSON in the text, the text.
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
 * What paths look into: the first of these in which they find something. So `$.total` is of the structured content, and
 * `$[0].text`, `$.content[0].text` and `$.isError` find what they say.
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

/** A resource has one content in most cases; `content` is its text, or its bytes in base64. */
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

/** What a path selects, in the first view where it selects anything; the likeliest view where there is nothing. */
export function lookUp(views: readonly unknown[], path: string): Found {
  for (const view of views) {
    const selected = select(view, path);
    if (selected.length > 0) return { view, selected };
  }
  return { view: views[0], selected: [] };
}

interface Captured {
  values: Record<string, unknown>;
  /** One sentence for each variable that there is nothing for. */
  problems: string[];
}

const MAX_MS = 3000;

/** The variables that a step or a test takes out of an answer. A path that selects several values gives a list. */
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
    if (!isInTime) problems.push(`Nothing was captured for "${name}": looking for ${path} took too long.`);
  }
  return { values, problems };
}

/**
 * Patterns come from the specification, texts from the server under test: together they can take hours. V8 ends
 * even a regular expression where a script has a time limit, so everything that judges runs as a part of one.
 */
const CONTEXT = createContext({ work: undefined }) as { work: (() => void) | undefined };
const CALL = new Script('work()');

/** False where the time was up; what the work has done until then stays done. */
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
