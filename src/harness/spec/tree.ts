import { dirname, resolve } from 'node:path';
import type { SpecFault } from './fault.js';
import { parseSource, readBounded, type Source } from './source.js';

const MAX_DEPTH = 8;
const MAX_FILES = 200;

/** A specification with everything that it includes. */
export interface SourceTree {
  /** What is included stands before what includes it; the specification itself is the last. */
  sources: Source[];
  files: string[];
  faults: SpecFault[];
}

export function readTree(file: string): SourceTree {
  const tree: SourceTree = { sources: [], files: [file], faults: [] };
  const read = readBounded(file);
  if ('problem' in read) {
    const message = `the specification cannot be read: ${read.problem}`;
    tree.faults.push({ file, position: null, path: '', message });
    return tree;
  }
  add(tree, file, read.text, [file]);
  return tree;
}

/** `way` leads from the specification to this file. */
function add(tree: SourceTree, file: string, text: string, way: readonly string[]): void {
  const source = parseSource(file, text);
  if (Array.isArray(source)) {
    tree.faults.push(...source);
    return;
  }
  for (const [index, name] of includesOf(source.data).entries()) {
    const wrong = (message: string) => tree.faults.push(source.fault(['includes', index], message));
    const path = resolve(dirname(file), name);
    if (way.includes(path)) {
      wrong(`includes itself: ${[...way.slice(way.indexOf(path)), path].join(' includes ')}`);
      continue;
    }
    if (tree.files.includes(path)) continue; // by another way
    if (way.length > MAX_DEPTH || tree.files.length >= MAX_FILES) {
      wrong(`is too much: at most ${MAX_FILES} files may include each other, ${MAX_DEPTH} in a row`);
      continue;
    }
    const read = readBounded(path);
    tree.files.push(path);
    if ('problem' in read) wrong(`cannot be read: ${read.problem}`);
    else add(tree, path, read.text, [...way, path]);
  }
  tree.sources.push(source);
}

/** Of another shape, they are told by the format. */
function includesOf(data: unknown): string[] {
  const includes = (data as { includes?: unknown } | null)?.includes;
  return Array.isArray(includes) && includes.every((one) => typeof one === 'string') ? includes : [];
}
