import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findInterpreters } from '../../../scripts/interpreters.mjs';
import { py } from '../../../tests/support/python.js';
import { serveTools, type ToolServer } from './serve-tools.js';
import { wrapPlace } from './wrap-place.js';

const { folder, tools, write, done } = wrapPlace();
mkdirSync(join(folder, 'shapes'));
// The package imports the module that is wrapped, which imports from the package.
write('shapes/__init__.py', 'from .area import square\nUNIT = "cm2"\n');
write('shapes/numbers.py', 'FACTOR = 2\n');
write(
  'shapes/area.py',
  py`
    from . import numbers
    from .numbers import FACTOR

    def square(side: int) -> int:
        """Twice the area of a square."""
        return numbers.FACTOR * side * side
  `,
);
write(
  'shapes/cli.py',
  py`
    import argparse

    from .area import square

    def main(argv=None):
        parser = argparse.ArgumentParser(description="Measures a square.")
        parser.add_argument("side", type=int)
        parser.add_argument("--unit", default="cm2")
        given = parser.parse_args(argv)
        print(square(given.side), given.unit)
  `,
);
write('uses_os.py', 'import os\n\ndef where() -> str:\n    """Say where."""\n    return os.getcwd()\n');
write('profiles.yaml', 'profiles:\n  strict:\n    blockedImports: [os]\n');
const PROFILES = { PROFILES_FILE: join(folder, 'profiles.yaml') };
const MODULES = ['shapes/area.py', 'shapes/cli.py'];

describe('in the server', () => {
  let server: ToolServer;
  beforeAll(async () => {
    for (const file of MODULES) expect(await done(file)).toContain('✓');
    expect(
      await done('uses_os.py', '--profile', 'strict', '--profiles-file', PROFILES.PROFILES_FILE),
    ).toContain('✗ where');
    server = await serveTools({ TOOLS_DIR: tools, ...PROFILES });
  });
  afterAll(() => server?.close());

  test('a function of a module with relative imports is called', async () => {
    expect(await server.call('square', { side: '3' })).toMatchObject({ structuredContent: { result: 18 } });
  });

  test('a main() that nothing calls is started with its command line', async () => {
    expect(await server.call('cli', { side: 3, unit: 'mm2' })).toMatchObject({
      structuredContent: { exitCode: 0, stdout: '18 mm2\n' },
    });
  });

  test('list_wrapped reports a profile that would deny every call', async () => {
    const { structuredContent } = await server.call('list_wrapped', {});
    const { scripts } = structuredContent as { scripts: { name: string; problem: string | null }[] };
    const problems = Object.fromEntries(scripts.map(({ name, problem }) => [name, problem]));
    expect(problems).toMatchObject({ area: null, cli: null });
    expect(problems['uses_os']).toMatch(/"strict".*os/);
  });
});

describe('in a folder', () => {
  beforeAll(async () => {
    for (const file of MODULES) await done(file, '-o', `${basename(file, '.py')}-mcp`);
  });

  describe.each(findInterpreters() as { path: string; version: string }[])(
    'with Python $version',
    (python) => {
      const call = (output: string, name: string, args: object) => {
        const request = { jsonrpc: '2.0', id: 1, method: 'CallTool', params: { name, arguments: args } };
        const input = `${JSON.stringify(request)}\n`;
        const said = execFileSync(python.path, [join(folder, output, 'wrapper.py')], { input }).toString();
        return JSON.parse(said.trim().split('\n').at(-1)!).result;
      };

      test('a function of a module with relative imports is called', () => {
        expect(call('area-mcp', 'square', { side: 3 })).toMatchObject({ value: 18 });
      });

      test('a main() that nothing calls is started with its command line', () => {
        expect(call('cli-mcp', 'cli', { side: 3 })).toMatchObject({ exitCode: 0, stdout: '18 cm2\n' });
      });
    },
  );
});
