import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REPORT, wrapPlace } from './wrap-place.js';

describe('pungi wrap FILE', () => {
  test('registers the script in the tools folder, and says what is offered', async () => {
    const { done, json, folder } = wrapPlace();
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
    const { done, write, tools } = wrapPlace();
    write('first.py', 'def total() -> int:\n    return 1\n');
    expect(await done('first.py')).toMatch(/^✓ total$/m);
    write('other.py', 'def total(x: "Nope"):\n    return 1\n');
    const text = await done('other.py');
    expect(text).toMatch(/^✓ other_total$/m);
    expect(text).toMatch(/^· note: line 1, total\(x\): /m);
    expect(text).toContain(`The tools folder is ${tools}.\n`);
    expect(await done('first.py')).toMatch(/^✓ total$/m);
    expect(JSON.parse(await done('other.py', '--json')).tools).toEqual(['other_total']);
  });

  test('again keeps what a person has changed, and takes what the script has changed', async () => {
    const { done, write, read, json, names } = wrapPlace();
    await done('report.py', '--name', 'q');
    const edited = json('tools/q.tools.json');
    Object.assign(edited.tools[0]!, { name: 'sum_up', hidden: true, description: 'Mine.' });
    write('tools/q.tools.json', JSON.stringify({ ...edited, name: 'quarters', profile: 'diego' }));
    write('report.py', REPORT.replace('def plot', 'def chart'));
    const again = JSON.parse(await done('report.py', '--name', 'q', '--json'));
    expect(again).toMatchObject({ toolsFile: expect.stringMatching(/q\.tools\.json$/) });
    expect(names('tools/q.tools.json')).toEqual(['sum_up', 'chart', 'q']);
    expect(json('tools/q.tools.json')).toMatchObject({
      name: 'quarters',
      profile: 'diego',
      tools: [{ hidden: true, description: 'Mine.' }, {}, {}],
    });
    expect(read('tools/q.tools.json')).toContain('\n  "version": 1,\n');
  });

  test('chooses by --functions and --mode, and remembers the choice', async () => {
    const { done, names } = wrapPlace();
    await done('report.py', '--functions', 'plot, total');
    await done('report.py');
    expect(names('tools/report.tools.json')).toEqual(['total', 'plot']);
    await done('report.py', '--mode', 'script');
    expect(names('tools/report.tools.json')).toEqual(['report']);
  });

  test('does not take the name of another script, unless it is told to', async () => {
    const { done, refused, write, json, folder } = wrapPlace();
    await done('report.py');
    write('other.py', 'def other(x: int) -> int:\n    return x\n');
    expect(await refused('other.py', '--name', 'report')).toContain(`The name "report" belongs to ${folder}`);
    await done('other.py', '--name', 'report', '--force');
    expect(json('tools/report.tools.json')).toMatchObject({
      script: join(folder, 'other.py'),
      tools: [{ name: 'other' }],
    });
  });

  test('says what is wrong with a tools file before it writes one anew', async () => {
    const { done, refused, write, names } = wrapPlace();
    await done('report.py');
    write('tools/report.tools.json', '{"version": 1}');
    const sentence = await refused('report.py');
    for (const part of ['script: is missing', 'tools: is missing', 'overwrite it with --force'])
      expect(sentence).toContain(part);
    await done('report.py', '--force');
    expect(names('tools/report.tools.json')).toHaveLength(3);
  });

  test('leaves nothing half-written, and nothing where it is refused', async () => {
    const { done, refused, tools } = wrapPlace();
    await refused('report.py', '--functions', 'nobody');
    expect(existsSync(tools)).toBe(false);
    await done('report.py');
    expect(readdirSync(tools)).toEqual(['report.tools.json']);
  });

  test('finds an environment and a profile that are not there', async () => {
    const { wrap, refused } = wrapPlace();
    expect(await wrap('report.py', '--env', 'nowhere')).toMatchObject({ status: 66 });
    expect(await refused('report.py', '--profile', 'nobody')).toContain('"nobody"');
  });
});

describe('pungi wrap FILE -o FOLDER', () => {
  test('writes a folder, and prints what clients are told', async () => {
    const { done, folder, json } = wrapPlace();
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

  test('takes several scripts, which one server offers by names of their own', async () => {
    const { done, refused, write, read, names, json, folder } = wrapPlace();
    write('first.py', '"""The first."""\nimport money\ndef total() -> int:\n    return money.RATE\n');
    write('second.py', 'def total() -> str:\n    return __file__\ndef other() -> int:\n    return 3\n');
    const text = await done('first.py', 'second.py', '-o', 'office');
    expect(text).toMatch(/^✓ total$[\s\S]*^✓ second_total$/m);
    expect(text).toContain('3 tools of first.py, second.py.');
    const list = ['first.py', 'second.py', 'money.py', 'first.tools.json', 'second.tools.json'];
    for (const name of list) expect(existsSync(join(folder, 'office', name)), name).toBe(true);
    for (const words of [
      '# office',
      '### first.py',
      'The first.',
      '### second.py',
      '`second_total`',
      'NAME.tools.json',
    ])
      expect(read('office/README.md')).toContain(words);
    const input = ['total', 'second_total', 'other']
      .map((name, id) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } }))
      .join('\n');
    const printed = execFileSync('python3', [join(folder, 'office/wrapper.py')], { input, encoding: 'utf8' });
    const answers = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const resultOf = (id: number) => answers.find((one) => one.id === id).result.structuredContent.result;
    expect([0, 1, 2].map(resultOf)).toEqual([2, join(folder, 'office/second.py'), 3]);

    const edited = json('office/second.tools.json');
    edited.tools[0]!.name = 'mine';
    write('office/second.tools.json', JSON.stringify(edited));
    await done('first.py', 'second.py', '-o', 'office', '--force');
    expect(names('office/second.tools.json')).toEqual(['mine', 'other']);
    expect(await refused('first.py', '-o', 'office', '--force')).toContain('holds the tools of second.py');
    mkdirSync(join(folder, 'elsewhere'));
    write('elsewhere/third.py', 'import money\ndef third(): pass\n');
    write('elsewhere/money.py', 'RATE = 3\n');
    expect(await refused('first.py', 'elsewhere/third.py', '-o', 'both')).toContain(
      '"money.py" of first.py and of third.py are different files',
    );
  });

  test('takes along what --include names, and nothing from outside of the folder of the script', async () => {
    const { done, refused, write, read, json, folder } = wrapPlace();
    write('data.csv', '1\n');
    write('sales.py', 'def total() -> str:\n    return open("data.csv").read()\n');
    expect(await done('inspect', 'sales.py')).toMatch(
      /^ {2}sales\.py:2 data\.csv: .*with --include it does\./m,
    );
    expect(await refused('sales.py', '-o', 'out', '--include', '../data.csv')).toContain(
      'is not below the folder of the script',
    );
    expect(existsSync(join(folder, 'out'))).toBe(false);
    const text = await done('sales.py', '-o', 'out', '--include', 'data.csv');
    expect(text).not.toContain('with --include it does');
    expect(read('out/data.csv')).toBe('1\n');
    expect(json('out/tools.json')).toMatchObject({ include: ['data.csv'], modules: ['data.csv'] });
  });

  test('refuses --profile, which a folder has no use for', async () => {
    const { refused, folder } = wrapPlace();
    expect(await refused('report.py', '-o', 'out', '--profile', 'default')).toContain(
      'applies to the server',
    );
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  test('with --env it is loaded there, and the folder names no environment', async () => {
    const { done, json } = wrapPlace();
    await done('report.py', '-o', 'out', '--env', 'default');
    expect(json('out/tools.json')).toMatchObject({ environment: null });
  });

  test('refuses one that is not empty; --force writes it anew and keeps what was edited', async () => {
    const { done, refused, write, json, folder } = wrapPlace();
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
    const { done, write, folder, tools } = wrapPlace();
    expect(await done('list')).toBe(`Nothing is wrapped in ${tools}.\n`);
    await Promise.all([
      done('report.py', '--env', 'default'),
      done('report.py', '--name', 'second', '--functions', 'total'),
      done('report.py', '-o', 'whole'),
    ]);
    renameSync(join(folder, 'whole'), join(tools, 'whole'));
    write('tools/lying.py', 'def f(x: int) -> int:\n    return x\n');
    write('tools/broken.tools.json', '{');
    write('report.py', `${REPORT}\n`);
    const [text, json] = await Promise.all([done('list'), done('list', '--json')]);
    expect(text).toMatch(/^report +3 +default +changed +\/.*report\.py$/m);
    expect(text).toMatch(/^second +1 +changed +/m);
    expect(text).toMatch(/^whole +3 +unchanged +\/.*whole\/report\.py$/m);
    expect(text).toMatch(/^lying +\? +found at start +/m);
    expect(text).toMatch(/^broken +\? +broken +/m);
    expect(text).toContain('it is not JSON');
    const { scripts } = JSON.parse(json);
    expect(scripts.map(({ name }: { name: string }) => name)).toEqual([
      'broken',
      'lying',
      'report',
      'second',
      'whole',
    ]);
  });

  test('list tells of an environment and a profile that are missing', async () => {
    const { done, write, json } = wrapPlace();
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
    const { done, refused, folder } = wrapPlace();
    await done('report.py');
    expect(await refused('remove', 'reprot')).toContain('do you mean "report"?');
    expect(await done('remove', 'report')).toBe('The tools of "report" are no longer offered.\n');
    expect(existsSync(join(folder, 'report.py'))).toBe(true);
  });

  test('--tools names another tools folder, and without one it must be named', async () => {
    const { done, refused, folder } = wrapPlace();
    await done('report.py', '--tools', 'mine');
    expect(existsSync(join(folder, 'mine/report.tools.json'))).toBe(true);
    expect(await refused('report.py', '--tools', 'off')).toContain('TOOLS_DIR is off');
  });
});
