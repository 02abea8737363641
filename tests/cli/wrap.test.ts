import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ToolsFile } from '../../src/contract/wrap.js';
import { temporaryFolder } from '../support/places.js';
import { py } from '../support/python.js';
import { type Ended, pungi } from './pungi.js';

const root = temporaryFolder();
const REPORT = py`
  """Figures of a quarter."""
  import argparse
  import zebra_of_nobody
  import cv2_of_nobody as cv2
  import money

  def total(path: str, unit: str = "EUR") -> float:
      """Adds up a column.

      Args:
          path: the CSV file
      """
      return 1.0

  def plot(path: str) -> bytes:
      """Draws."""

  def draw(*args):
      pass

  def main():
      parser = argparse.ArgumentParser(description="Makes the report.")
      parser.add_argument("month", type=int, help="which month")
      parser.parse_args()

  if __name__ == "__main__":
      main()
`;

let count = 0;
/** A folder of its own for each test, and the tools folder in it. */
function place() {
  count += 1;
  const folder = join(root, `${count}`);
  mkdirSync(folder);
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('report.py', REPORT);
  write('money.py', 'RATE = 2\n');
  const tools = join(folder, 'tools');
  const wrap = (...args: string[]): Promise<Ended> =>
    pungi(['wrap', ...args], { cwd: folder, env: { TOOLS_DIR: tools } });
  const done = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await wrap(...args);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout;
  };
  const refused = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await wrap(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
    return stderr;
  };
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const json = (path: string) => JSON.parse(read(path)) as ToolsFile;
  const names = (path: string) => json(path).tools.map(({ name }) => name);
  return { folder, tools, write, wrap, done, refused, read, json, names };
}

describe('pungi wrap inspect', () => {
  test('shows the tools with their parameters, what is left out and why, and what is missing', async () => {
    const { done } = place();
    const text = await done('inspect', 'report.py');
    expect(text).toMatch(/^report\.py {2}Figures of a quarter\.\n/);
    expect(text).toMatch(
      /^ {2}total {2}line \d+ {2}→ number\n {4}Adds up a column\.\n {6}path +text, required +the CSV file\n {6}unit +text, default "EUR"\n/m,
    );
    expect(text).toMatch(
      /^Command line\n {2}report {2}line \d+.*\n {4}Makes the report\.\n {6}month +whole number, required +which month\n/m,
    );
    expect(text).toMatch(/^Not wrapped\n(?: {2}report\.py:\d+ .+\n)* {2}report\.py:18 draw.*: .+\n/m);
    expect(text).toMatch(/^Files beside it\n {2}money\.py\n/m);
    expect(text).toMatch(/2 imports are missing in the environment "default": .*zebra_of_nobody/);
    expect(text).toContain('pungi env install default ');
  });

  test('as JSON has the discovery and what is missing', async () => {
    const { done } = place();
    const shown = JSON.parse(await done('inspect', 'report.py', '--json'));
    expect(shown).toMatchObject({
      description: 'Figures of a quarter.',
      modules: ['money.py'],
      environment: 'default',
      missingImports: expect.arrayContaining([{ module: 'zebra_of_nobody', package: 'zebra-of-nobody' }]),
      hasMainGuard: true,
    });
    expect(shown.functions.map(({ name }: { name: string }) => name)).toEqual(['total', 'plot']);
  });

  test('shows what wrapping would make, and what only another choice makes', async () => {
    const { done, write, names } = place();
    write(
      'guarded.py',
      'def one() -> int:\n    return 1\n\ndef two() -> int:\n    return 2\n\nif __name__ == "__main__":\n    print(one())\n',
    );
    const text = await done('inspect', 'guarded.py');
    expect(text).toMatch(/^Functions\n {2}one .*\n {2}two /m);
    expect(text).toMatch(/^Not chosen\n {2}guarded {2}line \d+ {2}only with --mode script or both\n/m);
    expect(text).not.toMatch(/^Command line$/m);
    for (const choice of [[], ['--mode', 'both'], ['--mode', 'script'], ['--functions', 'two']]) {
      const { tools, others } = JSON.parse(await done('inspect', 'guarded.py', '--json', ...choice));
      await done('guarded.py', '--force', '--name', `n${choice.length}${choice[1] ?? ''}`, ...choice);
      const wrapped = names(`tools/n${choice.length}${choice[1] ?? ''}.tools.json`);
      expect(tools.map(({ name }: { name: string }) => name)).toEqual(wrapped);
      expect(tools.length + others.length).toBe(3);
    }
    expect(await done('inspect', 'report.py', '--mode', 'function')).toMatch(
      /main: It serves the command line, which is a tool with the mode "script" or "both"\./,
    );
  });

  test('of a script with dependencies of its own names what is not among them', async () => {
    const { write, done } = place();
    write(
      'own.py',
      '# /// script\n# requires-python = ">=3.10"\n# dependencies = ["pyyaml"]\n# ///\nimport yaml, zebra_of_nobody\nprint(1)\n',
    );
    const text = await done('inspect', 'own.py');
    expect(text).toMatch(/^Needs\n {2}Python >=3\.10\n {2}pyyaml\n/m);
    expect(text).toContain(
      '1 import is missing among the dependencies that the script names: zebra_of_nobody',
    );
  });

  test('lets no text of a script command the terminal', async () => {
    const { write, done } = place();
    write('evil.py', 'def f(x: int) -> int:\n    "Red \\x1b[31m and\\nnewline \\u202e"\n    return x\n');
    const text = await done('inspect', 'evil.py');
    for (const mark of ['\x1b', '\u202e']) expect(text).not.toContain(mark);
  });
});

describe('pungi wrap FILE', () => {
  test('registers the script in the tools folder, and says what is offered', async () => {
    const { done, json, folder } = place();
    const text = await done('report.py');
    expect(text).toMatch(/^✓ total {2}Adds up a column\.$/m);
    expect(text).toContain('Wrapped report.py as "report": "pungi serve" offers 3 tools of it.');
    expect(json('tools/report.tools.json')).toMatchObject({
      version: 1,
      name: 'report',
      script: join(folder, 'report.py'),
      modules: ['money.py'],
      missingImports: expect.arrayContaining(['zebra_of_nobody']),
    });
  });

  test('says the names that clients will see, where the folder is and what is worth knowing', async () => {
    const { done, write, tools } = place();
    write('first.py', 'def total() -> int:\n    return 1\n');
    expect(await done('first.py')).toMatch(/^✓ total$/m);
    write('other.py', 'def total(x: "Nope"):\n    return 1\n');
    const text = await done('other.py');
    expect(text).toMatch(/^✓ other_total$/m);
    expect(text).toMatch(/^· worth knowing: line 1, total\(x\): /m);
    expect(text).toContain(`The tools folder is ${tools}.\n`);
    expect(await done('first.py')).toMatch(/^✓ total$/m);
    expect(JSON.parse(await done('other.py', '--json')).tools).toEqual(['other_total']);
  });

  test('again keeps what a person has changed, and takes what the script has changed', async () => {
    const { done, write, read, json, names } = place();
    await done('report.py', '--name', 'q');
    const edited = json('tools/q.tools.json');
    Object.assign(edited.tools[0]!, { name: 'sum_up', hidden: true, description: 'Mine.' });
    write('tools/q.tools.json', JSON.stringify({ ...edited, name: 'quarters', profile: 'diego' }));
    write('report.py', REPORT.replace('def plot', 'def chart'));
    const again = JSON.parse(await done('report.py', '--name', 'q', '--json'));
    expect(again).toMatchObject({ toolsFile: expect.stringMatching(/q\.tools\.json$/) });
    expect(names('tools/q.tools.json')).toEqual(['sum_up', 'chart', 'report']);
    expect(json('tools/q.tools.json')).toMatchObject({
      name: 'quarters',
      profile: 'diego',
      tools: [{ hidden: true, description: 'Mine.' }, {}, {}],
    });
    expect(read('tools/q.tools.json')).toContain('\n  "version": 1,\n');
  });

  test('chooses by --mode and --functions, and remembers the choice', async () => {
    const { done, names, write } = place();
    await done('report.py', '--functions', 'plot, total');
    expect(names('tools/report.tools.json')).toEqual(['total', 'plot']);
    write('report.py', `${REPORT}\ndef erase() -> None:\n    pass\n`);
    await done('report.py');
    expect(names('tools/report.tools.json')).toEqual(['total', 'plot']);
    write('report.py', REPORT.replace('def plot', 'def chart'));
    await done('report.py');
    expect(names('tools/report.tools.json')).toEqual(['total']);
    write('report.py', `${REPORT}\ndef erase() -> None:\n    pass\n`);
    await done('report.py', '--mode', 'script');
    expect(names('tools/report.tools.json')).toEqual(['report']);
    await done('report.py', '--mode', 'function');
    expect(names('tools/report.tools.json')).toEqual(['total', 'plot', 'erase']);
  });

  test('does not take the name of another script, unless it is told to', async () => {
    const { done, refused, write, json, folder } = place();
    await done('report.py');
    write('other.py', 'def other(x: int) -> int:\n    return x\n');
    expect(await refused('other.py', '--name', 'report')).toContain(
      `"report" is the name of the tools of ${folder}`,
    );
    await done('other.py', '--name', 'report', '--force');
    expect(json('tools/report.tools.json')).toMatchObject({
      script: join(folder, 'other.py'),
      tools: [{ name: 'other' }],
    });
  });

  test('says what is wrong with a tools file before it writes one anew', async () => {
    const { done, refused, write, names } = place();
    await done('report.py');
    write('tools/report.tools.json', '{"version": 1}');
    const sentence = await refused('report.py');
    for (const part of ['script: is missing', 'tools: is missing', '--force writes it anew'])
      expect(sentence).toContain(part);
    await done('report.py', '--force');
    expect(names('tools/report.tools.json')).toHaveLength(3);
  });

  test('leaves nothing half-written, and nothing where it is refused', async () => {
    const { done, refused, tools } = place();
    await refused('report.py', '--functions', 'nobody');
    expect(existsSync(tools)).toBe(false);
    await done('report.py');
    expect(readdirSync(tools)).toEqual(['report.tools.json']);
  });

  test('finds an environment and a profile that are not there', async () => {
    const { wrap, refused } = place();
    expect(await wrap('report.py', '--env', 'nowhere')).toMatchObject({ status: 66 });
    expect(await refused('report.py', '--profile', 'nobody')).toContain('"nobody"');
  });
});

describe('pungi wrap FILE -o FOLDER', () => {
  test('writes a folder, and prints what clients are told', async () => {
    const { done, folder, json } = place();
    const text = await done('report.py', '-o', 'out');
    expect(text).toContain('of report.py.');
    const client = JSON.parse(text.slice(text.indexOf('\n{') + 1));
    expect(client.mcpServers.report.args).toEqual([join(folder, 'out/wrapper.py')]);
    for (const name of ['wrapper.py', 'report.py', 'money.py', 'README.md', 'requirements.txt', '.mcp.json'])
      expect(existsSync(join(folder, 'out', name)), name).toBe(true);
    expect(json('out/tools.json')).toMatchObject({ script: 'report.py', name: 'report' });
    expect(existsSync(join(folder, 'tools'))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test.each([['--env'], ['--profile']])('refuses %s, which a folder has no use for', async (flag) => {
    const { refused, folder } = place();
    expect(await refused('report.py', '-o', 'out', flag, 'default')).toContain('are for the server');
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  test('refuses one that is not empty; --force writes it anew and keeps what was edited', async () => {
    const { done, refused, write, json, folder } = place();
    await done('report.py', '-o', 'out');
    expect(await refused('report.py', '-o', 'out')).toContain('--force');
    const edited = json('out/tools.json');
    edited.tools[0]!.description = 'Mine.';
    write('out/tools.json', JSON.stringify(edited));
    write('out/notes.txt', 'mine');
    const told = JSON.parse(await done('report.py', '-o', 'out', '--force', '--json'));
    expect(told.files).toContain('wrapper.py');
    expect(json('out/tools.json').tools[0]).toMatchObject({ description: 'Mine.' });
    expect(existsSync(join(folder, 'out/notes.txt'))).toBe(true);
    expect(await refused('report.py', '-o', '.', '--force')).toContain('is not empty');
  });
});

describe('pungi wrap list and remove', () => {
  test('show what is in the tools folder, and how it is', async () => {
    const { done, write, tools } = place();
    expect(await done('list')).toBe(`Nothing is wrapped in ${tools}.\n`);
    await done('report.py', '--env', 'default');
    await done('report.py', '--name', 'second', '--functions', 'total');
    write('tools/lying.py', 'def f(x: int) -> int:\n    return x\n');
    write('tools/broken.tools.json', '{');
    await done('report.py', '-o', 'tools/whole');
    write('report.py', `${REPORT}\n`);
    const text = await done('list');
    expect(text).toMatch(/^report +3 +default +changed +\/.*report\.py$/m);
    expect(text).toMatch(/^second +1 +changed +/m);
    expect(text).toMatch(/^whole +3 +unchanged +\/.*whole\/report\.py$/m);
    expect(text).toMatch(/^lying +\? +found at start +/m);
    expect(text).toMatch(/^broken +\? +broken +/m);
    expect(text).toContain('it is not JSON');
    const { scripts } = JSON.parse(await done('list', '--json'));
    expect(scripts.map(({ name }: { name: string }) => name)).toEqual([
      'broken',
      'lying',
      'report',
      'second',
      'whole',
    ]);
  });

  test('list tells of an environment and a profile that are missing', async () => {
    const { done, write, json } = place();
    await done('report.py');
    const file = json('tools/report.tools.json');
    write('tools/a.tools.json', JSON.stringify({ ...file, environment: 'nowhere' }));
    write('tools/b.tools.json', JSON.stringify({ ...file, profile: 'nobody' }));
    const text = await done('list');
    expect(text).toMatch(/^a: .*nowhere/m);
    expect(text).toMatch(/^b: There is no profile "nobody"\./m);
    expect(text).not.toMatch(/^report: /m);
  });

  test('remove takes the registration away and leaves the script', async () => {
    const { done, refused, folder, write } = place();
    await done('report.py');
    write('tools/lying.py', '');
    expect(await refused('remove', 'reprot')).toContain('do you mean "report"?');
    expect(await refused('remove', 'lying')).toContain('move or delete it there');
    write('tools/lying.tools.json', '{}');
    expect(await refused('remove', 'lying')).toContain('all of it would be offered');
    expect(await refused('remove', '../report')).toContain('cannot be the name of tools');
    expect(await done('remove', 'report')).toBe('The tools of "report" are no longer offered.\n');
    expect(existsSync(join(folder, 'report.py'))).toBe(true);
    expect(await refused('remove', 'report')).toContain('No script is wrapped as "report"');
  });

  test('--tools names another tools folder, and without one it must be named', async () => {
    const { done, refused, folder } = place();
    await done('report.py', '--tools', 'mine');
    expect(existsSync(join(folder, 'mine/report.tools.json'))).toBe(true);
    expect(await refused('report.py', '--tools', 'off')).toContain('TOOLS_DIR is off');
  });
});

describe('what cannot be wrapped', () => {
  test.each([
    ['a file that is not there', 'none.py', undefined, 'there is no such file'],
    ['a folder', '.', undefined, 'it is a folder'],
    ['what is below a file', 'report.py/x.py', undefined, 'cannot be read'],
    ['a device', '/dev/null', undefined, 'is no regular file'],
    ['what is not text', 'data.py', 'a\0b', 'it is not text'],
    ['a notebook', 'book.ipynb', '{}', 'jupyter nbconvert'],
    ['what is too large', 'large.py', '#'.repeat(2 * 1024 * 1024 + 1), 'larger than 2097152 bytes'],
    ['what is empty', 'empty.py', '', 'There is nothing to wrap in empty.py'],
    ['what is called like the wrapper', 'wrapper.py', 'def f(x: int) -> int:\n    return x\n', 'Rename it'],
  ])('%s', async (_, name, text, words) => {
    const { refused, write, folder } = place();
    if (text !== undefined) write(name, text);
    expect(await refused(name, '-o', 'out')).toContain(words);
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  test('what is no Python: the place is told, and the status is 1', async () => {
    const { wrap, write } = place();
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
    const { refused } = place();
    const sentence = await refused('report.py', '--functions', 'totl,draw');
    expect(sentence).toContain('"totl": there is no such function, but "total"');
    expect(sentence).toMatch(/"draw": line 18: /);
    expect(await refused('report.py', '--functions', 'total', '--mode', 'script')).toContain(
      'give one of them',
    );
  });

  test.each([
    [[], 'see "pungi wrap --help"'],
    [['report.py', 'more.py'], 'too many arguments'],
    [['report.py', '--mode', 'all'], 'auto, function, script, both'],
    [['report.py', '--name', 'a/b'], 'cannot be the name of tools'],
    [['lst'], 'did you mean "pungi wrap list"?'],
    [['inpsect', 'report.py'], 'did you mean "pungi wrap inspect"?'],
    [['inspect', 'report.py', '-o', 'out'], 'see "pungi wrap inspect --help"'],
  ])('pungi wrap %j', async (args, words) => {
    const { refused } = place();
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
