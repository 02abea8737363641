import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { sha256 } from '../../core/src/base/sha256.js';
import { toolsFor } from '../../server/src/tools/index.js';
import { advertisedTools } from '../../server/src/wrapped/answer-wrapped.js';
import { wrappedInfo } from '../../server/src/wrapped/list-wrapped.js';
import { wrappingTools } from '../../server/src/wrapped/wrapping-tools.js';
import { BUILT_IN_NAMES } from '../src/tools-folder/name-tools.js';
import { listSources } from '../src/tools-folder/registrations.js';
import { WrappedScripts } from '../src/tools-folder/wrapped-scripts.js';
import { toolsFile } from './tools.js';
import { type Files, say, toolsFolders, write } from './tools-folder.js';

const { pungi, newFolder, offered } = toolsFolders();

describe('names', () => {
  test('every tool of the server itself is reserved, whatever its settings', () => {
    const config = { ...pungi.config, toolsDir: newFolder(), wrapTools: true, scriptRoots: ['/'] };
    const own = [...toolsFor(config, pungi.profiles), ...wrappingTools(config)];
    expect([...BUILT_IN_NAMES].sort()).toEqual(own.map(({ name }) => name).sort());
  });

  test('a tool that is called like one of the server, or like that of an older script, has its script before its name', async () => {
    const { names } = await offered({
      'a.py': say('execute_python') + say('same'),
      'b c.py': say('same') + say('list_wrapped'),
      'd.py': say('toString') + say('constructor'),
      'e.py': say('a_same'),
    });
    expect(names().sort()).toEqual(
      [
        'a_execute_python',
        'a_same',
        'same',
        'b_c_list_wrapped',
        'b_c_same',
        'constructor',
        'toString',
      ].sort(),
    );
  });
});

test('nothing of the folder is read before somebody asks for it', async () => {
  const folder = newFolder();
  write(folder, { 'a.py': say('hello') });
  const asked: string[] = [];
  const side = {
    environments: pungi.environments,
    profiles: pungi.profiles,
    probe: pungi.probe.bind(pungi),
    inspect: pungi.inspect.bind(pungi),
    discover: async () => {
      asked.push('discover');
      throw new Error('not now');
    },
  };
  const wrapped = new WrappedScripts(folder, side, pungi.logger, true);
  await pungi.run({ code: '1' });
  expect([asked, wrapped.scripts]).toEqual([[], []]);
  await wrapped.settled();
  expect(asked).toEqual(['discover']);
  await wrapped.close();
});

test('where tools files are trusted, only scripts that have changed are loaded', async () => {
  const loaded: (string | undefined)[] = [];
  const side = {
    environments: pungi.environments,
    profiles: pungi.profiles,
    probe: pungi.probe.bind(pungi),
    discover: pungi.discover.bind(pungi),
    inspect: (...given: Parameters<typeof pungi.inspect>) => {
      loaded.push(given[0].code);
      return pungi.inspect(...given);
    },
  };
  const files = {
    'same.py': say('hello', 'same'),
    'same.tools.json': toolsFile('same.py', { sha256: sha256(say('hello', 'same')) }, { name: 'one' }),
    'changed.py': say('hello', 'changed'),
    'changed.tools.json': toolsFile('changed.py', { sha256: sha256('') }, { name: 'two' }),
  };
  const { names } = await offered(files, { side, areFilesTrusted: true });
  expect(names().sort()).toEqual(['one', 'two']);
  expect(loaded).toEqual([files['changed.py']]);
});

describe('what is in the folder', () => {
  test('scripts, registrations, folders; nothing hidden', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': say('hello') });
    const { names, problems } = await offered({
      'near.py': say('near'),
      '.hidden.py': say('hidden'),
      '_private.py': say('private_one'),
      'notes.txt': 'x',
      'far.tools.json': toolsFile(join(elsewhere, 'far.py'), {}, { name: 'renamed' }),
      'boxed/tools.json': toolsFile('in.py', {}, { name: 'boxed_hello' }),
      'boxed/in.py': say('hello'),
      'boxed/wrapper.py': say('wrapper'),
      'empty/x.py': say('never'),
    });
    expect(problems()).toEqual({ 'boxed/tools.json': null, 'far.tools.json': null, 'near.py': null });
    expect(names().sort()).toEqual(['boxed_hello', 'near', 'renamed']);
  });

  test('a folder that is itself a wrapped script offers that alone', async () => {
    const { names } = await offered({
      'tools.json': toolsFile('in.py'),
      'in.py': say('hello'),
      'wrapper.py': say('wrapper'),
    });
    expect(names()).toEqual(['hello']);
  });

  test('what a person has hidden stays hidden, also while their file is broken', async () => {
    const { names, folder, wrapped, problems } = await offered({
      'a.py': say('hello') + say('bye'),
      'a.tools.json': '{',
    });
    expect(names()).toEqual([]);
    expect(problems()['a.tools.json']).toMatch(/not JSON/);
    write(folder, { 'a.tools.json': toolsFile('a.py', { functions: ['hello'] }) });
    await wrapped.look();
    expect(names()).toEqual(['hello']);
    write(folder, { 'a.tools.json': toolsFile('a.py', { functions: ['hello'] }, { hidden: true }) });
    await wrapped.look();
    expect(names()).toEqual([]);
  });

  test('files that are no scripts are reported, and cost nobody else their tools', async () => {
    const folder = newFolder();
    execFileSync('mkfifo', [join(folder, 'pipe.py'), join(folder, 'pipe.tools.json')]);
    mkdirSync(join(folder, 'folder.py'));
    symlinkSync('loop.py', join(folder, 'loop.py'));
    symlinkSync(join(folder, 'nowhere.py'), join(folder, 'dangling.py'));
    symlinkSync('/dev/zero', join(folder, 'zero.py'));
    write(folder, {
      'good.py': say('good'),
      'large.py': `x = "${'a'.repeat(5 * 1024 * 1024)}"\n`,
      'latin.py': '',
      'zero_bytes.py': 'def f(): pass\0\n',
      'broken.py': 'def f(:\n',
    });
    writeFileSync(join(folder, 'latin.py'), Buffer.from([0x23, 0xe9, 0x0a]));
    const { names, problems, logger } = await offered({}, { folder });
    expect(names()).toEqual(['good']);
    expect(problems()).toEqual({
      'good.py': null,
      'pipe.tools.json': expect.stringMatching(/not a regular file/),
      'folder.py': expect.stringMatching(/it is a folder/),
      'loop.py': expect.any(String),
      'dangling.py': expect.stringMatching(/no such file/),
      'zero.py': expect.stringMatching(/not a regular file/),
      'large.py': expect.stringMatching(/larger than 2097152 bytes/),
      'latin.py': expect.stringMatching(/not UTF-8/),
      'zero_bytes.py': expect.any(String),
      'broken.py': expect.stringMatching(/broken\.py:1:/),
    });
    const told = logger.entries.filter(({ message }) => message === 'A wrapped script cannot be used');
    expect(told.map(({ context }) => context['script']).sort()).toContain('large.py');
  });

  test('names with line breaks and escapes are refused, and said so on one line', async () => {
    const { names, problems } = await offered({
      'a\nb.py': say('one'),
      'c\u001b[31m.py': say('two'),
      'd\\e.py': say('three'),
    });
    expect(names()).toEqual([]);
    for (const problem of Object.values(problems()))
      expect(problem).toMatch(/^The script "\P{Cc}*" cannot be used: its name/u);
  });

  test.each([
    [
      'an absolute path in a folder',
      { 'x/tools.json': toolsFile('/etc/passwd') },
      /must be named by its path from this file/,
    ],
    [
      'a path that leaves a folder',
      { 'x/tools.json': toolsFile('../a.py'), 'a.py': say('a') },
      /lies outside of the folder/,
    ],
    [
      'a path that leaves the tools folder',
      { 'x.tools.json': toolsFile('../../x.py') },
      /lies outside of the folder/,
    ],
    ['the folder itself', { 'x.tools.json': toolsFile('.') }, /lies outside of the folder/],
    [
      'a file outside of the folder that is to go along',
      { 'x/tools.json': toolsFile('in.py', { include: ['../a.csv'] }), 'x/in.py': say('hello'), 'a.csv': '' },
      /"\.\.\/a\.csv" is no path below the folder of the script/,
    ],
    ['a script that is not there', { 'x.tools.json': toolsFile('/nowhere/x.py') }, /no such file/],
    [
      'a schema without an object',
      { 'x.tools.json': toolsFile('a.py', {}, { inputSchema: { type: 'string' } }), 'a.py': say('a') },
      /inputSchema/,
    ],
    [
      'a version of the future',
      { 'x.tools.json': toolsFile('a.py', { version: 7 as never }), 'a.py': say('a') },
      /newer Pungi/,
    ],
  ])('%s is refused', async (_, files, said) => {
    const { problems, names } = await offered(files as unknown as Files);
    const origin = Object.keys(files).find((path) => path.endsWith('tools.json'))!;
    expect(problems()[origin]).toMatch(said);
    expect(names()).not.toContain('hello');
  });

  test('a link in a folder of its own does not lead out of it', async () => {
    const folder = newFolder();
    write(folder, { 'x/tools.json': toolsFile('in.py') });
    symlinkSync('/etc/passwd', join(folder, 'x', 'in.py'));
    const { problems } = await offered({}, { folder });
    expect(problems()['x/tools.json']).toMatch(/lies outside of the folder/);
  });

  test('a schema that cannot be compiled costs that tool, or its promise, and nothing else', async () => {
    const dangling = { type: 'object', properties: { a: { $ref: '#/$defs/none' } } };
    const seen = { sha256: sha256(say('hello')) };
    const { names, wrapped, logger } = await offered({
      'a.py': say('hello'),
      'a.tools.json': toolsFile('a.py', seen, { inputSchema: dangling }),
      'b.py': say('hello'),
      'b.tools.json': toolsFile('b.py', seen, { name: 'other', outputSchema: dangling }),
      'c.py': say('third'),
    });
    expect(names().sort()).toEqual(['other', 'third']);
    expect(advertisedTools(wrapped.tools).find(({ name }) => name === 'other')).not.toHaveProperty(
      'outputSchema',
    );
    expect(wrapped.scripts.map((script) => wrappedInfo(script, wrapped).remarks)).toMatchObject([
      [{ name: 'hello', reason: expect.stringMatching(/its inputSchema is no schema/), isSkipped: true }],
      [{ name: 'other', reason: expect.stringMatching(/its outputSchema is no schema/), isSkipped: false }],
      [],
    ]);
    expect(logger.entries.filter(({ level }) => level === 'error')).toHaveLength(2);
  });

  test('more scripts than are looked at', async () => {
    const folder = newFolder();
    write(folder, Object.fromEntries(Array.from({ length: 303 }, (_, index) => [`s${index}.py`, ''])));
    const { sources, problem } = await listSources(folder);
    expect(sources.length).toBe(300);
    expect(problem).toMatch(/more than 300 scripts/);
  });

  test('a folder that is not there is waited for', async () => {
    const { wrapped, folder } = await offered({}, { folder: join(newFolder(), 'later'), lookEveryMs: 20 });
    expect(wrapped.problem).toMatch(/there is no such folder/);
    write(folder, { 'a.py': say('hello') });
    await until(() => wrapped.tools.has('hello'), 'the folder is found');
    expect(wrapped.problem).toBeNull();
  });
});
