import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@pungi/core/base';
import { PYTHON_HALF } from '@pungi/core/processes';

/** Where the modules of the wrapper lie below the Python half; together they are one package. */
const FOLDERS = ['pungi/calls', 'standalone'];
/** It ends with the start of the program, and imports all that is needed. */
const START = 'main';
const FUTURE = 'from __future__ import annotations\n';

/** The modules that become wrapper.py. */
export const wrapperModules = (half = PYTHON_HALF): PythonModule[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(half, folder))
      .filter((file) => file.endsWith('.py') && file !== '__init__.py')
      .sort()
      .map((file) => readModule(file.slice(0, -3), readFileSync(join(half, folder, file), 'utf8'))),
  );

/** One program of modules that import each other by `from .name import a, b`, and of which no two share a name. */
export function bundle(modules: readonly PythonModule[], opening: string): string {
  const used = inOrder(modules);
  const imports = new Set(used.flatMap((module) => module.imports));
  const future = imports.delete(FUTURE) ? [FUTURE, '\n'] : [];
  const head = [opening, '\n', ...future, ...sorted(imports)].join('');
  return [head, ...used.map(partOf)].map((text) => `${text.trim()}\n`).join('\n\n');
}

/** In the middle of a program, a docstring is a comment. */
function partOf({ name, docstring, body }: PythonModule): string {
  const title = `# ${name} ${'-'.repeat(Math.max(3, 100 - name.length))}`;
  const comment = docstring === '' ? [] : docstring.split('\n').map((line) => `# ${line.trim()}`.trimEnd());
  return [title, ...comment, '', body].join('\n');
}

/** What a module imports comes before it. What nobody imports is left out. */
function inOrder(modules: readonly PythonModule[]): PythonModule[] {
  const byName = new Map(modules.map((module) => [module.name, module]));
  const ordered: PythonModule[] = [];
  const visited = new Set<string>();
  const visit = (name: string, from: string) => {
    if (visited.has(name)) return;
    visited.add(name);
    const module = byName.get(name);
    if (module === undefined) throw new Error(`${from} imports .${name}, which is not there`);
    for (const sibling of module.siblings) visit(sibling, `${name}.py`);
    ordered.push(module);
  };
  visit(START, 'the wrapper');
  return ordered;
}

const sorted = (imports: Iterable<string>) =>
  [...imports].sort((one, other) => (key(one) < key(other) ? -1 : 1));
/** `import x` before `from x import y`, as everywhere. */
const key = (line: string) => `${line.startsWith('import') ? 0 : 1}${line}`;

/** The text of a module of our own, taken apart. */
interface PythonModule {
  name: string;
  docstring: string;
  /** The statements at its top that import from elsewhere. */
  imports: string[];
  /** The modules of its own package that it imports, by `from .name import a, b`. */
  siblings: string[];
  /** All that follows its imports. */
  body: string;
}

const DOCSTRING = /^"""([\s\S]*?)"""\n/;
const SPACE = /^[ \t]*\n/;
const SIBLING = /^from \.(\w+) import (?:\([^)]*\)|[^\n(]+)\n/;
const IMPORT = /^(?:import [^\n]+|from [^.\s]\S* import (?:\([^)]*\)|[^\n(]+))\n/;

/** Only its top is looked at: further down, a line that looks like an import may be part of a text. */
export function readModule(name: string, source: string): PythonModule {
  const module: PythonModule = { name, docstring: '', imports: [], siblings: [], body: '' };
  let rest = source.replaceAll('\r\n', '\n');
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const found = pattern.exec(rest);
    if (found !== null) rest = rest.slice(found[0].length);
    return found;
  };
  module.docstring = take(DOCSTRING)?.[1]?.trim() ?? '';
  for (;;) {
    if (take(SPACE) !== null) continue;
    const sibling = take(SIBLING);
    if (sibling !== null) {
      if (/\bas\b/.test(sibling[0]))
        throw new Error(`${name}.py gives what it imports another name: ${sibling[0]}`);
      module.siblings.push(sibling[1]!);
      continue;
    }
    const imported = take(IMPORT);
    if (imported === null) break;
    module.imports.push(imported[0]);
  }
  return { ...module, body: rest.trim() };
}

const OPENING = `#!/usr/bin/env python3
"""Serves the tools of the tools.json beside it over MCP, on standard input and output.

Needs Python 3.10 or newer and nothing else. The README.md beside it says how to use it, and
"python wrapper.py --help" what can be set. Made by Pungi ${VERSION}, the same for every script:
what differs is in tools.json.
"""

import sys

if sys.version_info < (3, 10):
    sys.stderr.write("The wrapper needs Python 3.10 or newer; this is %s.\\n" % sys.version.split()[0])
    sys.exit(2)

`;

/** The one program that serves any wrapped script. */
export const wrapperText = (): string => bundle(wrapperModules(), OPENING);
