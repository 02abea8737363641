import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pungi } from './pungi.js';
import { wrapPlace } from './wrap-place.js';

describe('pungi wrap inspect', () => {
  test('shows the tools with their parameters, what is left out and why, and what is missing', async () => {
    const { done } = wrapPlace();
    const text = await done('inspect', 'report.py');
    expect(text).toMatch(/^report\.py {2}Figures of a quarter\.\n/);
    expect(text).toMatch(
      /^ {2}total {2}line \d+ {2}→ number\n {4}Adds up a column\.\n {6}path +text, required +the CSV file\n {6}unit +text, default "EUR"\n/m,
    );
    expect(text).toMatch(
      /^Command line\n {2}report {2}line \d+.*\n {4}Makes the report\.\n {6}month +whole number, required +which month\n/m,
    );
    expect(text).toMatch(/^Not wrapped\n(?: {2}report\.py:\d+ .+\n)* {2}report\.py:18 draw.*: .+\n/m);
    expect(text).toMatch(/^Other files\n {2}money\.py\n/m);
    expect(text).toMatch(/2 imports are missing in the environment "default": .*zebra_of_nobody/);
    expect(text).toContain('pungi env install default ');
  });

  test('as JSON has the discovery and what is missing', async () => {
    const { done } = wrapPlace();
    const shown = JSON.parse(await done('inspect', 'report.py', '--json'));
    expect(shown).toMatchObject({
      description: 'Figures of a quarter.',
      modules: ['money.py'],
      environment: 'default',
      missingImports: expect.arrayContaining([{ module: 'zebra_of_nobody', package: null }]),
      hasMainGuard: true,
    });
    expect(shown.functions.map(({ name }: { name: string }) => name)).toEqual(['total', 'plot']);
  });

  test('shows what wrapping would make, and what only another choice makes', async () => {
    const { done, write, names } = wrapPlace();
    write(
      'guarded.py',
      'def one() -> int:\n    return 1\n\ndef two() -> int:\n    return 2\n\nif __name__ == "__main__":\n    print(one())\n',
    );
    const text = await done('inspect', 'guarded.py');
    expect(text).toMatch(/^Functions\n {2}one .*\n {2}two /m);
    expect(text).toMatch(/^Not chosen\n {2}guarded {2}line \d+ {2}only with --mode script or both\n/m);
    expect(text).not.toMatch(/^Command line$/m);
    const namesOf = (tools: { name: string }[]) => tools.map(({ name }) => name);
    for (const choice of [
      ['--mode', 'both'],
      ['--functions', 'two'],
    ]) {
      const name = `as-${choice[1]}`;
      const [shown] = await Promise.all([
        done('inspect', 'guarded.py', '--json', ...choice),
        done('guarded.py', '--name', name, ...choice),
      ]);
      const { tools, others } = JSON.parse(shown);
      const wrapped = names(`tools/${name}.tools.json`);
      // Wrapped, the command line has the name that was given.
      expect(namesOf(tools)).toEqual(wrapped.map((one) => (one === name ? 'guarded' : one)));
      expect(tools.length + others.length).toBe(3);
    }
    expect(await done('inspect', 'report.py', '--mode', 'function')).toMatch(
      /main: It serves the command line, which is a tool with the mode "script" or "both"\./,
    );
  });

  test('of a script with dependencies of its own names what is not among them', async () => {
    const { write, done } = wrapPlace();
    write(
      'own.py',
      '# /// script\n# requires-python = ">=3.10"\n# dependencies = ["pyyaml"]\n# ///\nimport yaml, zebra_of_nobody\nprint(1)\n',
    );
    const text = await done('inspect', 'own.py');
    expect(text).toMatch(/^Needs\n {2}Python >=3\.10\n {2}pyyaml\n/m);
    expect(text).toContain('1 import is missing in the dependencies of the script: zebra_of_nobody');
  });

  test('of a script that cannot be loaded says why, and marks no tool as good', async () => {
    const { write, done } = wrapPlace();
    write('broken.py', 'import zebra_of_nobody\n\ndef total(path: str) -> float:\n    return 1.0\n');
    for (const words of [['inspect', 'broken.py'], ['broken.py']]) {
      const text = await done(...words);
      expect(text).toMatch(
        /broken\.py cannot be loaded \(line 1\): ModuleNotFoundError: .*zebra_of_nobody.*install/,
      );
      expect(text).toContain('total');
      expect(text).not.toContain('✓');
    }
  });

  test('lets no text of a script command the terminal', async () => {
    const { write, done } = wrapPlace();
    write('evil.py', 'def f(x: int) -> int:\n    "Red \\x1b[31m and\\nnewline \\u202e"\n    return x\n');
    const text = await done('inspect', 'evil.py');
    for (const mark of ['\x1b', '\u202e']) expect(text).not.toContain(mark);
  });
});

describe('what cannot be wrapped', () => {
  test.each([
    ['a folder', '.', undefined, 'it is a folder'],
    ['what is empty', 'empty.py', '', 'There is nothing to wrap in empty.py'],
    ['what is called like the wrapper', 'wrapper.py', 'def f(x: int) -> int:\n    return x\n', 'Rename it'],
  ])('%s', async (_, name, text, words) => {
    const { refused, write, folder } = wrapPlace();
    if (text !== undefined) write(name, text);
    expect(await refused(name, '-o', 'out')).toContain(words);
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  test('what is no Python: the place is told, and the status is 1', async () => {
    const { wrap, write } = wrapPlace();
    write('bad.py', 'x = 1\nprint "hello"\n');
    const ended = await wrap('bad.py');
    expect(ended).toMatchObject({ status: 1, stdout: '' });
    expect(ended.stderr).toMatch(/^pungi: bad\.py:2:1 is not valid Python: SyntaxError: .+\n$/);
    const json = await wrap('inspect', 'bad.py', '--json');
    expect(json).toMatchObject({ status: 1, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { code: 'PYTHON_ERROR', details: { exception: { line: 2 } } },
    });
  });

  test('functions that are none, each with the reason', async () => {
    const { refused } = wrapPlace();
    const sentence = await refused('report.py', '--functions', 'totl,draw');
    expect(sentence).toContain('"totl": there is no such function, but "total"');
    expect(sentence).toMatch(/"draw": line 18: /);
    expect(await refused('report.py', '--functions', 'total', '--mode', 'script')).toContain(
      'give one of them',
    );
  });

  test.each([
    [[], 'see "pungi wrap --help"'],
    [['report.py', 'more.py'], 'Several scripts go into one folder (-o)'],
    [['report.py', 'more.py', '-o', 'out', '--name', 'x'], 'apply to one script'],
    [['report.py', '--mode', 'all'], 'auto, function, script, both'],
    [['report.py', '--name', 'a/b'], 'cannot be the name of tools'],
    [['lst'], 'did you mean "pungi wrap list"?'],
    [['inpsect', 'report.py'], 'did you mean "pungi wrap inspect"?'],
    [['inspect', 'report.py', '-o', 'out'], 'see "pungi wrap inspect --help"'],
  ])('pungi wrap %j', async (args, words) => {
    const { refused } = wrapPlace();
    expect(await refused(...args)).toContain(words);
  });
});

test('the help names the commands, the options and the exit codes, no wider than 100 columns', async () => {
  const helps = await Promise.all(
    [[], ['inspect'], ['list'], ['remove']].map((command) => pungi(['wrap', ...command, '--help'])),
  );
  for (const { status, stdout } of helps) {
    expect(status).toBe(0);
    expect(stdout).toMatch(/\nExamples:\n {2}pungi wrap /);
    expect(stdout).toMatch(/^ +66 +\w/m);
    expect(stdout).toContain('TOOLS_DIR');
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
  }
  for (const word of ['inspect', 'list', 'remove', '--output', '--functions', '--mode', '--force'])
    expect(helps[0]!.stdout).toContain(word);
});
