import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'snippets');
const HEADER = /^# (argv|stdin|env|files|python|packages|long): (.*)$/;

/** A script of the kind that agents write. Comments at its beginning, each with JSON, say what it is given. */
export interface Snippet {
  /** Its category and name, such as "files/glob_patterns". */
  name: string;
  code: string;
  argv: string[];
  stdin: string;
  env: Record<string, string>;
  /** Path to text. */
  files: Record<string, string>;
  /** The oldest minor version of Python 3 that it runs on. */
  python: number;
  /** Distributions that it imports; none: the standard library is enough. */
  packages: string[];
  /** Takes seconds, so only the long suite runs it. */
  long: boolean;
}

const NOTHING = { argv: [], stdin: '', env: {}, files: {}, python: 10, packages: [], long: false };

export function readSnippets(): Snippet[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.py'))
    .sort()
    .map((path) => parse(path.slice(0, -'.py'.length), readFileSync(join(FOLDER, path), 'utf8')));
}

function parse(name: string, code: string): Snippet {
  const given: Record<string, unknown> = {};
  for (const line of code.split('\n')) {
    const [, key, json] = HEADER.exec(line) ?? [];
    if (key === undefined) break;
    given[key] = JSON.parse(json!);
  }
  return { name, code, ...NOTHING, ...given };
}

/** Every package that some snippet imports. */
export const packagesOf = (snippets: readonly Snippet[]): string[] =>
  [...new Set(snippets.flatMap(({ packages }) => packages))].sort();

/** The names of variables that some snippet is given. */
export const variablesOf = (snippets: readonly Snippet[]): string[] => [
  ...new Set(snippets.flatMap(({ env }) => Object.keys(env))),
];
