import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findInterpreters } from '../../../scripts/interpreters.mjs';
import { temporaryFolder } from '../../../tests/support/places.js';
import { py } from '../../../tests/support/python.js';
import { bundle, readModule, wrapperModules, wrapperText } from '../src/standalone/bundle.js';
import { SETTINGS } from '../src/standalone/readme.js';

const folder = temporaryFolder();
const pythons = findInterpreters() as { path: string; version: string }[];
const [python] = pythons;

/** What a program prints. */
function printed(interpreter: string, program: string, ...args: string[]): string {
  return execFileSync(interpreter, ['-I', '-c', program, ...args], { encoding: 'utf8' });
}

const module = (name: string, source: string) => readModule(name, source);

describe('a bundle', () => {
  const main = module(
    'main',
    py`
      """Starts it.

      With a second paragraph.
      """

      import sys
      from .words import (
          WORD,
          say,
      )

      TEXT = """\
      import os
      from .nowhere import nothing
      """

      if __name__ == "__main__":
          say(WORD + TEXT, sys.argv)
    `,
  );
  const words = module(
    'words',
    'import json\nimport sys\n\nWORD = "x"\n\n\ndef say(text, argv):\n    print(json.dumps(text))\n',
  );
  const unused = module('unused', 'import antigravity\n');

  test('is one program: what is imported comes first, once, and what nobody uses is left out', () => {
    const text = bundle([main, unused, words], '"""Opening."""\n');
    expect(text.match(/^import .*$/gm)).toEqual(['import json', 'import sys', 'import os']);
    expect(text).not.toContain('antigravity');
    expect(text).toContain('# Starts it.\n#\n# With a second paragraph.\n');
    expect(JSON.parse(printed(python!.path, text))).toBe('ximport os\nfrom .nowhere import nothing\n');
  });

  test('is refused where a module is missing, or gives another name to what it imports', () => {
    expect(() => bundle([main], '')).toThrow('main.py imports .words, which is not there');
    expect(() => module('a', 'from .b import c as d\n')).toThrow('another name');
  });

  test('keeps imports from the future at its top', () => {
    const start = module('main', 'from __future__ import annotations\n\nprint(__doc__)\n');
    expect(printed(python!.path, bundle([start], '"""Opening."""\n'))).toBe('Opening.\n');
  });
});

describe('wrapper.py', () => {
  const path = join(folder, 'wrapper.py');
  const text = wrapperText();
  writeFileSync(path, text);

  test.each(pythons)('compiles with Python $version, without a warning', ({ path: interpreter }) => {
    const program =
      'import sys, warnings; warnings.simplefilter("error"); import pathlib; compile(pathlib.Path(sys.argv[1]).read_text(), "wrapper.py", "exec")';
    expect(printed(interpreter, program, path)).toBe('');
  });

  const AST = py`
    import ast, json, sys
    tree = ast.parse(open(sys.argv[1]).read())
    names = [one.name for one in tree.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
    names += [target.id for one in tree.body if isinstance(one, ast.Assign) for target in one.targets if isinstance(target, ast.Name)]
    imported = [one for one in ast.walk(tree) if isinstance(one, (ast.Import, ast.ImportFrom))]
    relative = [one.lineno for one in imported if isinstance(one, ast.ImportFrom) and one.level > 0]
    roots = {alias.name.split(".")[0] for one in imported if isinstance(one, ast.Import) for alias in one.names}
    roots |= {one.module.split(".")[0] for one in imported if isinstance(one, ast.ImportFrom) and one.module}
    foreign = sorted(roots - sys.stdlib_module_names)
    print(json.dumps({"twice": sorted({name for name in names if names.count(name) > 1}), "relative": relative, "foreign": foreign}))
  `;

  test('has no import of a sibling left, and no name twice', () => {
    const found = JSON.parse(printed(python!.path, AST, path));
    expect(found).toMatchObject({ twice: [], relative: [] });
    // What a script hands over may be of these, which are then there already; annotationlib comes with Python 3.14.
    expect(
      found.foreign.filter(
        (name: string) => !/^(pydantic|numpy|pandas|PIL|matplotlib|annotationlib)/.test(name),
      ),
    ).toEqual([]);
  });

  test('names nothing of Pungi but its maker', () => {
    expect(text.match(/^.*pungi.*$/gm)).toBeNull();
  });

  test('has every module that its package has', () => {
    const absent = wrapperModules().filter(({ name }) => !text.includes(`\n# ${name} ---`));
    expect(absent.map(({ name }) => name)).toEqual([]);
  });

  test.each(pythons)('tells its version with Python $version', ({ path: interpreter }) => {
    const told = execFileSync(interpreter, [path, '--version'], { encoding: 'utf8', cwd: folder });
    expect(told).toMatch(/\d+\.\d+/);
  });
});

describe('on Python 3.9', () => {
  const path = join(folder, 'wrapper.py');
  const SENTENCE = /^The wrapper needs Python 3\.10 or newer; this is 3\.9\.\d+\.\n$/;
  const explained = (interpreter: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(interpreter, args, { encoding: 'utf8', cwd: folder });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(SENTENCE);
  };

  test('its syntax is readable there, and it explains itself before it imports anything', () => {
    const program = py`
      import ast, sys
      text = open(sys.argv[1]).read()
      ast.parse(text, feature_version=(3, 9))
      sys.version_info, sys.version = (3, 9, 18), "3.9.18 (main)"
      sys.meta_path.clear()
      exec(compile(text, sys.argv[1], "exec"), {"__name__": "__main__"})
    `;
    for (const interpreter of pythons) explained(interpreter.path, '-c', program, path);
  });

  const [oldest] = findInterpreters(9) as { path: string; minor: number }[];
  test.skipIf(oldest!.minor > 9)('it explains itself in one sentence', () => {
    explained(oldest!.path, path);
    explained(oldest!.path, path, '--list');
  });
});

test('the README tells every variable of the wrapper, with its default', () => {
  const half = join(import.meta.dirname, '../../core/python');
  const program = py`
    import json, sys
    sys.dont_write_bytecode = True
    sys.path.insert(0, sys.argv[1])
    from standalone.settings import SETTINGS
    print(json.dumps([[row[0], row[1]] for row in SETTINGS]))
  `;
  const rows = JSON.parse(printed(python!.path, program, half)) as [string, unknown][];
  expect(rows.map(([name]) => name)).toEqual(SETTINGS.map(({ name }) => name));
  for (const [index, [name, standard]] of rows.entries()) {
    if (standard !== null) expect(SETTINGS[index]!.standard, name).toBe(String(standard));
  }
});
