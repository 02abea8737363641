import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PYTHON_HALF } from '../../sandbox/spawn.js';
import { type PythonModule, readModule } from './python-module.js';

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
