import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PungiError, readBounded, writeWhole } from '@pungi/core/base';
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

const FOLDER = '__snapshots__';
const MAX_BYTES = 256 * 1024 * 1024;

/** The snapshot file of a specification: JSON that people can review. */
export const snapshotFile = (specification: string): string =>
  join(dirname(specification), FOLDER, `${basename(specification)}.json`);

/** The snapshots of one specification. Nothing is written before `save`. */
export class SnapshotStore {
  readonly file: string;
  readonly #kept = new Map<string, unknown>();
  readonly #used = new Set<string>();
  #isChanged = false;

  constructor(specification: string) {
    this.file = snapshotFile(specification);
    for (const [name, value] of Object.entries(read(this.file))) this.#kept.set(name, value);
  }

  /** Undefined if there is no snapshot yet. */
  get(name: string): { value: unknown } | undefined {
    this.#used.add(name);
    return this.#kept.has(name) ? { value: this.#kept.get(name) } : undefined;
  }

  put(name: string, value: unknown): void {
    this.#used.add(name);
    if (this.#kept.has(name) && jsonEqual(this.#kept.get(name), value)) return;
    this.#kept.set(name, value);
    this.#isChanged = true;
  }

  /** Names that were not requested. After a run of all tests, no test uses them. */
  unused(): string[] {
    return [...this.#kept.keys()].filter((name) => !this.#used.has(name)).sort();
  }

  removeUnused(): void {
    for (const name of this.unused()) {
      this.#kept.delete(name);
      this.#isChanged = true;
    }
  }

  /** Writes atomically. Returns true if there was anything to write. */
  save(): boolean {
    if (!this.#isChanged) return false;
    this.#isChanged = false;
    if (this.#kept.size === 0) {
      rmSync(this.file, { force: true });
      return true;
    }
    const sorted = Object.fromEntries([...this.#kept].sort(([one], [other]) => (one < other ? -1 : 1)));
    writeWhole(this.file, `${JSON.stringify(sorted, null, 2)}\n`, `The snapshots in ${this.file}`);
    return true;
  }
}

function read(file: string): Record<string, unknown> {
  const unreadable = (reason: string) =>
    new PungiError('CONFIGURATION_ERROR', `Could not read the snapshots in ${file}: ${reason}.`);
  const found = readBounded(file, MAX_BYTES);
  if ('problem' in found) {
    if (found.isMissing) return {};
    throw unreadable(found.problem);
  }
  try {
    const kept: unknown = JSON.parse(found.bytes.toString());
    if (isMap(kept)) return kept;
  } catch {
    // reported below
  }
  throw unreadable('it is not a JSON object; restore it, or remove it and update the snapshots');
}

/** `create`: new snapshots are stored; `update`: all are stored; `check`: none. */
export type SnapshotMode = 'create' | 'update' | 'check';

/** The snapshots of a specification during a run. */
export class Snapshots {
  readonly #file: string;
  readonly #mode: SnapshotMode;
  #opened: SnapshotStore | undefined;

  constructor(specification: string, mode: SnapshotMode) {
    this.#file = specification;
    this.#mode = mode;
  }

  /** The snapshot to compare with. */
  find(expected: Expected, id: string): { name: string; kept: unknown } | undefined {
    const name = snapshotName(expected.snapshot, id);
    const kept = name === undefined || this.#mode === 'update' ? undefined : this.#store.get(name);
    return name === undefined || kept === undefined ? undefined : { name, kept: kept.value };
  }

  /** Called after all other checks have passed. */
  keep(expected: Expected, id: string, answer: Answer): Failure[] {
    const name = snapshotName(expected.snapshot, id);
    if (name === undefined) return [];
    if (this.#mode !== 'update' && this.#store.get(name) !== undefined) return [];
    if (this.#mode === 'check') {
      const message = `There is no snapshot "${name}". Run the test outside CI to create it.`;
      return [{ kind: 'snapshot', message }];
    }
    this.#store.put(name, snapshotOf(answer, expected.snapshot_ignore));
    return [];
  }

  /** `isWhole`: every test ran, so unused snapshots can be removed. */
  save({ isWhole }: { isWhole: boolean }): void {
    if (this.#mode === 'update' && isWhole) this.#opened?.removeUnused();
    this.#opened?.save();
  }

  get #store(): SnapshotStore {
    this.#opened ??= new SnapshotStore(this.#file);
    return this.#opened;
  }
}
