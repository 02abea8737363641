import type { Expected, Failure } from '@pungi/core/contract';
import { type Answer, isMap, itemsOf, jsonIn, wholeOf } from './answer.js';
import { jsonEqual } from './diff.js';
import { mismatch } from './failure.js';
import { type Path, pathProblem, select } from './select.js';

/** Replaces values that change from run to run. */
const IGNORED = '<ignored>';

/** The name of a test's snapshot: as given, or its id. Undefined if it has none. */
export function snapshotName(snapshot: Expected['snapshot'], id: string): string | undefined {
  return typeof snapshot === 'string' ? snapshot : snapshot === true ? id : undefined;
}

/**
 * The part of an answer that is stored: everything except the protocol's envelope. Ignored paths apply to every form of the
 * answer: many servers send the same structured content and as JSON in a text.
 */
export function snapshotOf(answer: Answer, ignore: readonly string[]): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(wholeOf(answer) ?? null));
  const paths = ignore.filter((path) => pathProblem(path) === undefined);
  if (!isMap(copy)) return copy;
  ignoreIn(copy['structuredContent'], paths);
  ignoreIn(copy['content'], paths);
  ignoreIn(copy, paths);
  for (const block of [...itemsOf(copy['content']), ...itemsOf(copy['contents'])]) {
    if (typeof block['text'] !== 'string') continue;
    const [value] = jsonIn(block['text']);
    if (ignoreIn(value, paths)) block['text'] = JSON.stringify(value);
  }
  return copy;
}

/** Returns whether anything was ignored. */
function ignoreIn(document: unknown, paths: readonly string[]): boolean {
  if (document === undefined) return false;
  const places = paths.flatMap((path) => select(document, path)).filter(({ path }) => path.length > 0);
  for (const { path } of places) replace(document, path);
  return places.length > 0;
}

function replace(document: unknown, path: Path): void {
  let parent = document as Record<PropertyKey, unknown>;
  for (const key of path.slice(0, -1)) {
    const next = parent[key];
    if (typeof next !== 'object' || next === null) return; // already ignored as a whole
    parent = next as Record<PropertyKey, unknown>;
  }
  parent[path.at(-1)!] = IGNORED;
}

/** Compares the answer with its snapshot. */
export function judgeSnapshot(name: string, kept: unknown, now: unknown): Failure[] {
  if (jsonEqual(kept, now)) return [];
  const message = `The answer differs from the snapshot "${name}". If it is right, update the snapshots.`;
  return [mismatch(message, kept, now, { kind: 'snapshot' })];
}
