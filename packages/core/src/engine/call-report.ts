import { z } from 'zod';
import type { Value } from '../contract/outcome.js';
import type { FunctionCall } from '../contract/run.js';
import { failure, type Verdict } from '../contract/verdicts.js';
import { ValueContent } from '../contract/wrap.js';
import { readValue } from './worker-report.js';

/** Twice the limits of the worker, which counts characters; longer values were written by foreign code. */
const MAX_REPORTED = { issues: 50, issue: 2000, note: 8000, json: 1024 * 1024, contents: 100 };

const Issues = z.object({ issues: z.array(z.unknown()).min(1) });

/** Returns the verdict for invalid arguments, or undefined if the worker reported none. */
export function badCall(report: unknown, call: FunctionCall): Verdict | undefined {
  const reported = Issues.safeParse(report);
  if (!reported.success) return undefined;
  const issues = reported.data.issues
    .slice(0, MAX_REPORTED.issues)
    .filter((issue) => typeof issue === 'string')
    .map((issue) => issue.slice(0, MAX_REPORTED.issue));
  const message = `The function "${call.function}" was called with invalid arguments: ${issues.join('; ')}.`;
  return failure('invalid', { issues }, message);
}

const Reported = z.object({
  content: z.array(z.unknown()).optional().catch(undefined),
  note: z.string().optional().catch(undefined),
});

/** Reads the return value of a called function; its images and other contents are attached, one after the other. */
export function readCallValue(report: unknown, attached: Buffer = Buffer.alloc(0)): Value | null {
  const value = readValue(report, MAX_REPORTED.json);
  if (value === null) return null;
  const { content = [], note } = Reported.parse((report as { value: unknown }).value);
  const contents = readContents(content, attached);
  return {
    ...value,
    ...(contents.length > 0 && { content: contents }),
    ...(note !== undefined && { note: note.slice(0, MAX_REPORTED.note) }),
  };
}

const Attached = ValueContent.omit({ base64: true }).extend({
  mimeType: z.string().regex(/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/),
  bytes: z.number().int().min(0),
});

function readContents(reported: readonly unknown[], attached: Buffer): ValueContent[] {
  const found: ValueContent[] = [];
  let from = 0;
  for (const each of reported.slice(0, MAX_REPORTED.contents)) {
    const { data } = Attached.safeParse(each);
    if (!data || from + data.bytes > attached.length) break;
    const { kind, mimeType, bytes } = data;
    found.push({ kind, mimeType, base64: attached.toString('base64', from, from + bytes) });
    from += bytes;
  }
  return found;
}
