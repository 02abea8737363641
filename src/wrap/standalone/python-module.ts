/** The text of a module of our own, taken apart. */
export interface PythonModule {
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
