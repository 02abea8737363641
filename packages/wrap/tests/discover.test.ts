import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findInterpreters } from '../../../scripts/interpreters.mjs';
import { py } from '../../../tests/support/python.js';
import { sharedPungi, temporaryFolder, withPungi } from '../../core/tests/engine/pungi.js';
import { discoverScript } from '../src/discover/discover-script.js';
import { discovered, functionTool } from './tools.js';

const pungi = sharedPungi();
const folder = temporaryFolder();

const SCRIPT = py`
  """Reports."""
  import json
  import zebra_of_nobody
  import money

  def total(path: str) -> float:
      """Adds up."""
      return money.sum_of(path)
`;

test('a look at a script finds its tools, what it imports from beside itself, and what is missing', async () => {
  writeFileSync(join(folder, 'report.py'), SCRIPT);
  mkdirSync(join(folder, 'money'));
  writeFileSync(join(folder, 'money/__init__.py'), 'from . import rates\nimport giraffe_of_nobody\n');
  writeFileSync(join(folder, 'money/rates.py'), '');
  const look = await discoverScript(pungi, { code: SCRIPT, path: join(folder, 'report.py') });
  expect(look).toMatchObject({ filename: 'report.py', discovery: { description: 'Reports.' } });
  expect(look.discovery.functions.map(({ name }) => name)).toEqual(['total']);
  expect(look.modules.map(({ path }) => path)).toEqual(['money/__init__.py', 'money/rates.py']);
  expect(look.missingImports).toEqual([
    { module: 'zebra_of_nobody', package: null },
    { module: 'giraffe_of_nobody', package: null },
  ]);
});

test('of a file that it names and that lies beside it, a remark says that it is left behind, unless it is included', async () => {
  const place = mkdtempSync(join(folder, 'data-'));
  mkdirSync(join(place, 'pages'));
  for (const name of ['data.csv', 'pages/a.html', 'unnamed.csv']) writeFileSync(join(place, name), '');
  const code = py`
    import pathlib
    HERE = pathlib.Path(__file__).parent
    data = open("./data.csv")
    page = HERE / "pages/a.html"
    other = open("nowhere.csv"), open("/etc/passwd"), "A sentence. Of words.", "report.py"
  `;
  const at = { code, path: join(place, 'report.py') };
  const { remarks } = await discoverScript(pungi, at);
  const reason = expect.stringContaining('with --include it does');
  expect(remarks).toEqual([
    { line: 3, name: 'data.csv', reason, isSkipped: false },
    { line: 4, name: 'pages/a.html', reason, isSkipped: false },
  ]);
  const included = await discoverScript(pungi, { ...at, include: ['data.csv', 'pages'] });
  expect(included.modules.map(({ path }) => path)).toEqual(['data.csv', 'pages/a.html']);
  expect(included.remarks).toEqual([]);
});

test('a script without a folder is alone', async () => {
  const look = await discoverScript(pungi, { code: SCRIPT, filename: 'report.py' });
  expect(look.modules).toEqual([]);
  expect(look.missingImports.map(({ module }) => module).sort()).toEqual(['money', 'zebra_of_nobody']);
});

test('imports of a script that names its dependencies are held against those', async () => {
  const code =
    '# /// script\n# dependencies = ["zebra-of-nobody>=2", "pyyaml"]\n# ///\nimport zebra_of_nobody, yaml, cv2\n';
  const { missingImports, discovery } = await discoverScript(pungi, { code });
  expect(discovery.dependencies).toEqual(['zebra-of-nobody>=2', 'pyyaml']);
  expect(missingImports).toEqual([{ module: 'cv2', package: 'opencv-python' }]);
});

test('where an environment is made for a profile, what the script itself names does not count', async () => {
  const code = '# /// script\n# dependencies = ["pyyaml"]\n# ///\nimport yaml, pandas\n';
  const { missingImports } = await discoverScript(pungi, { code, packages: ['pandas'] });
  expect(missingImports.map(({ module }) => module)).toEqual(['yaml']);
});

describe('Pungi.discover', () => {
  test('throws what is no Python, with its place', async () => {
    await expect(pungi.discover({ code: 'x = 1\ny = = 2\n', filename: 'bad.py' })).rejects.toMatchObject({
      code: 'PYTHON_ERROR',
      message: 'bad.py:2:5 is not valid Python: SyntaxError: invalid syntax.',
      details: { exception: { line: 2, column: 5 } },
    });
  });

  test('throws what is too large', async () => {
    await expect(pungi.discover({ code: '#'.repeat(3_000_000), filename: 'large.py' })).rejects.toMatchObject(
      {
        code: 'INVALID_INPUT',
      },
    );
  });

  test('reads with the Python of an environment, which must be there', async () => {
    await expect(pungi.discover({ code: '', filename: 'a.py', venvName: 'nowhere' })).rejects.toMatchObject({
      code: 'ENVIRONMENT_NOT_FOUND',
    });
  });

  const pythons = findInterpreters() as { path: string; minor: number }[];
  const old = pythons.find(({ minor }) => minor < 12);
  const isNew = pythons.some(({ minor }) => minor >= 12);
  const MODERN = 'type Name = str\n\ndef greet(name: Name) -> str:\n    return name\n';

  test.skipIf(old === undefined || !isNew)(
    'reads what only a newer Python understands, where the script says that it needs it',
    async () => {
      const settings = { PUNGI_PYTHON: old!.path, VENVS_BASE_PATH: join(folder, 'environments') };
      await withPungi(settings, async (other) => {
        const code = `# /// script\n# requires-python = ">=3.12"\n# ///\n${MODERN}`;
        const { functions } = await other.discover({ code, filename: 'modern.py' });
        expect(functions.map(({ name }) => name)).toEqual(['greet']);
        const unsaid = other.discover({ code: MODERN, filename: 'modern.py' });
        await expect(unsaid).rejects.toMatchObject({ code: 'PYTHON_ERROR' });
        const broken = other.discover({ code: `${code}\n(`, filename: 'modern.py' });
        await expect(broken).rejects.toMatchObject({ code: 'PYTHON_ERROR' });
      });
    },
  );

  test('runs nothing', async () => {
    const code = 'def f() -> int:\n    return 1\n\nwhile True:\n    pass\n';
    expect(await pungi.discover({ code, filename: 'endless.py' })).toMatchObject({ hasSideEffects: true });
  });
});

test('what a script forges while it is loaded concerns its own tools alone', async () => {
  const forged = discovered({
    functions: [functionTool('mine')],
    ...{ dependencies: ['evil'], requiresPython: '>=99', imports: ['evil'], firstImports: ['../evil'] },
  });
  const side = {
    discover: () => Promise.resolve(discovered()),
    inspect: () => Promise.resolve({ discovery: forged, problem: null }),
    probe: () => Promise.reject(new Error('nobody asks')),
    profiles: { get: () => ({ name: '', environment: null, packages: [] }) },
    environments: { defaultName: 'default', metadata: () => Promise.resolve(undefined) },
  };
  const { discovery } = await discoverScript(side, { code: '' });
  expect(discovery).toEqual({ ...discovered(), functions: forged.functions });
});
