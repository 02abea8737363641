import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/base/sha256.js';
import type { ToolsFile } from '../../src/contract/wrap.js';
import { type Pungi, silentLogger } from '../../src/index.js';
import { toolsFor } from '../../src/mcp/tools/index.js';
import { advertisedTools } from '../../src/mcp/wrapped/advertised.js';
import { wrappedInfo } from '../../src/mcp/wrapped/list-wrapped.js';
import { wrappingTools } from '../../src/mcp/wrapped/wrapping-tools.js';
import { wrappedCall } from '../../src/wrap/wrapped-call.js';
import { BUILT_IN_NAMES } from '../../src/wrap/wrapped-names.js';
import { WrappedScripts } from '../../src/wrap/wrapped-scripts.js';
import { listeningLogger, startPungi, temporaryFolder } from '../engine/pungi.js';
import { until } from '../support/until.js';

const base = temporaryFolder();
const newFolder = () => mkdtempSync(join(base, 'tools-'));
const write = (folder: string, files: Record<string, string>) => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
};

let open: Pungi | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function offered(files: Record<string, string>, folder = newFolder(), settings = {}) {
  write(folder, files);
  const logger = listeningLogger();
  open = startPungi({ TOOLS_DIR: folder, ...settings }, logger);
  const { wrapped } = open;
  await wrapped.look();
  const names = () => [...wrapped.tools.keys()];
  const problems = () => Object.fromEntries(wrapped.scripts.map(({ origin, problem }) => [origin, problem]));
  return { folder, pungi: open, wrapped, names, problems, logger };
}

const say = (name: string, text = name) => `def ${name}() -> str:\n    """Say."""\n    return "${text}"\n`;

/** A tools file as discovery would make it, for one function. */
const toolsFile = (script: string, changes: Partial<ToolsFile> = {}, tool: object = {}) =>
  JSON.stringify({
    version: 1,
    name: 'x',
    description: '',
    script,
    sha256: '',
    mode: 'auto',
    environment: null,
    profile: null,
    dependencies: [],
    requiresPython: null,
    missingImports: [],
    modules: [],
    tools: [
      {
        kind: 'function',
        function: 'hello',
        isAsync: false,
        wrapsResult: true,
        name: 'hello',
        description: 'Say.',
        inputSchema: { type: 'object', properties: {}, additionalProperties: false },
        outputSchema: null,
        line: 1,
        source: { description: 'Say.', parameters: {} },
        ...tool,
      },
    ],
    remarks: [],
    ...changes,
  });

describe('names', () => {
  test('every tool of the server itself is reserved, whatever its settings', () => {
    const pungi = startPungi({ TOOLS_DIR: newFolder(), WRAP_TOOLS: 'true' });
    open = pungi;
    const own = [...toolsFor(pungi.config, pungi.profiles), ...wrappingTools(pungi.config)];
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

describe('names stay', () => {
  const since = (day: number) => ({ since: `2026-01-0${day}T00:00:00.000Z` });

  test('when another script with the same names comes, and when it goes', async () => {
    const { names, folder, wrapped } = await offered({ 'b.py': say('same') });
    write(folder, { 'a.py': say('same') });
    await wrapped.look();
    expect(names().sort()).toEqual(['a_same', 'same']);
    expect(wrapped.tools.get('same')?.group).toBe('b');
    rmSync(join(folder, 'b.py'));
    await wrapped.look();
    expect(names()).toEqual(['a_same']);
    write(folder, { 'b.py': say('same') });
    await wrapped.look();
    expect(wrapped.tools.get('same')?.group).toBe('b');
  });

  test('at the next start, whatever the order of the files and whoever was saved last', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': say('hello') });
    const file = (day: number) => toolsFile(join(elsewhere, 'far.py'), since(day));
    const { wrapped } = await offered({
      'z.tools.json': file(1),
      'm.tools.json': file(3),
      'a.tools.json': file(2),
    });
    expect(Object.fromEntries([...wrapped.tools.values()].map(({ group, name }) => [group, name]))).toEqual({
      z: 'hello',
      a: 'a_hello',
      m: 'm_hello',
    });
  });
});

describe('where a script runs', () => {
  const PROFILES = 'profiles:\n  placed:\n    environment: made-later\n';
  const hello = (changes: Partial<ToolsFile>) => ({
    'a.py': `import zebra_of_nobody\n\n${say('hello')}`,
    'a.tools.json': toolsFile('a.py', {
      sha256: sha256(`import zebra_of_nobody\n\n${say('hello')}`),
      ...changes,
    }),
  });

  test.each([
    ['an environment', { environment: 'made-later' }, /made-later/],
    ['the environment of a profile', { profile: 'placed' }, /made-later/],
  ])('%s that is missing is told until it is there', async (_, changes, said) => {
    const places = newFolder();
    write(places, { 'profiles.yaml': PROFILES });
    const settings = { PROFILES_FILE: join(places, 'profiles.yaml'), VENVS_BASE_PATH: join(places, 'venvs') };
    const { wrapped, names, problems, pungi } = await offered(hello(changes), newFolder(), settings);
    expect(names()).toEqual(['hello']);
    expect(problems()['a.tools.json']).toMatch(said);
    await pungi.environments.create({ venvName: 'made-later' });
    await wrapped.look();
    expect(problems()['a.tools.json']).toBeNull();
    expect(wrapped.scripts[0]!.inUse!.tools.missingImports).toEqual(['zebra_of_nobody']);
    await pungi.environments.delete({ venvName: 'made-later', confirm: true });
    await wrapped.look();
    expect(problems()['a.tools.json']).toMatch(said);
  });

  test('a profile that is missing is told, and the tools are known all the same', async () => {
    const { names, problems } = await offered(hello({ profile: 'nobody' }));
    expect(names()).toEqual(['hello']);
    expect(problems()['a.tools.json']).toMatch(/There is no profile "nobody"/);
  });

  test('what a tools file says of imports and modules is looked up anew', async () => {
    const { wrapped } = await offered({ ...hello({ missingImports: ['gone'], modules: ['old.py'] }) });
    expect(wrapped.scripts[0]!.inUse!.tools).toMatchObject({
      missingImports: ['zebra_of_nobody'],
      modules: [],
    });
  });
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
    symlinkSync(join(base, 'nowhere.py'), join(folder, 'dangling.py'));
    symlinkSync('/dev/zero', join(folder, 'zero.py'));
    write(folder, {
      'good.py': say('good'),
      'large.py': `x = "${'a'.repeat(5 * 1024 * 1024)}"\n`,
      'latin.py': '',
      'zero_bytes.py': 'def f(): pass\0\n',
      'broken.py': 'def f(:\n',
    });
    writeFileSync(join(folder, 'latin.py'), Buffer.from([0x23, 0xe9, 0x0a]));
    const { names, problems, logger } = await offered({}, folder);
    expect(names()).toEqual(['good']);
    expect(problems()).toEqual({
      'good.py': null,
      'pipe.tools.json': expect.stringMatching(/no regular file/),
      'folder.py': expect.stringMatching(/no regular file/),
      'loop.py': expect.any(String),
      'dangling.py': expect.stringMatching(/no such file/),
      'zero.py': expect.stringMatching(/no regular file/),
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
    const { problems, names } = await offered(files as unknown as Record<string, string>);
    const origin = Object.keys(files).find((path) => path.endsWith('tools.json'))!;
    expect(problems()[origin]).toMatch(said);
    expect(names()).not.toContain('hello');
  });

  test('a link in a folder of its own does not lead out of it', async () => {
    const folder = newFolder();
    write(folder, { 'x/tools.json': toolsFile('in.py') });
    symlinkSync('/etc/passwd', join(folder, 'x', 'in.py'));
    const { problems } = await offered({}, folder);
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
    const files = Object.fromEntries(Array.from({ length: 303 }, (_, index) => [`s${index}.py`, '']));
    const { wrapped } = await offered(files);
    expect(wrapped.scripts.length).toBe(300);
    expect(wrapped.problem).toMatch(/more than 300 scripts/);
  });

  test('a folder that is not there is waited for', async () => {
    const folder = join(newFolder(), 'later');
    open = startPungi({ TOOLS_DIR: folder });
    const { wrapped } = open;
    await wrapped.look();
    expect(wrapped.problem).toMatch(/there is no such folder/);
    write(folder, { 'a.py': say('hello') });
    await until(() => wrapped.tools.has('hello'), 'the folder is found');
    expect(wrapped.problem).toBeNull();
  });
});

describe('changes', () => {
  test('a module beside the script, and one that comes later', async () => {
    const { pungi, wrapped, folder } = await offered({
      'a.py': 'import _helper\n\ndef value() -> int:\n    """Give."""\n    return _helper.VALUE\n',
    });
    const value = async () => {
      const tool = wrapped.tools.get('value')!;
      return (await pungi.run(wrappedCall(tool, {}))).value?.json;
    };
    expect(await value()).toBeUndefined();
    write(folder, { '_helper.py': 'VALUE = 1\n' });
    await until(async () => (await value()) === 1, 'the new module is used');
    write(folder, { '_helper.py': 'VALUE = 2\n' });
    await until(async () => (await value()) === 2, 'the changed module is used');
  });

  test('a script elsewhere that is saved by renaming', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': say('hello') });
    const { names } = await offered({ 'far.tools.json': toolsFile(join(elsewhere, 'far.py')) });
    write(elsewhere, { 'new.py': say('hello') + say('more') });
    renameSync(join(elsewhere, 'new.py'), join(elsewhere, 'far.py'));
    await until(() => names().includes('more'), 'the new script is used');
  });

  test('a registered script that is broken from the start is used once it is mended', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': 'def hello(:\n' });
    const { names } = await offered({ 'far.tools.json': toolsFile(join(elsewhere, 'far.py')) });
    expect(names()).toEqual([]);
    write(elsewhere, { 'far.py': say('hello') });
    await until(() => names().includes('hello'), 'the mended script is used');
  });

  test('a script that disappears takes its tools with it, a registered one as well', async () => {
    const elsewhere = newFolder();
    write(elsewhere, { 'far.py': say('hello') });
    const { names, folder, problems } = await offered({
      'far.tools.json': toolsFile(join(elsewhere, 'far.py')),
      'a.py': say('near'),
    });
    expect(names().sort()).toEqual(['hello', 'near']);
    rmSync(join(folder, 'a.py'));
    rmSync(join(elsewhere, 'far.py'));
    await until(() => names().length === 0, 'the tools are gone');
    expect(problems()).toEqual({ 'far.tools.json': expect.stringMatching(/no such file/) });
  });

  test('listeners are told of other tools, not of other code', async () => {
    const { wrapped, folder, names } = await offered({ 'a.py': say('hello', 'one') });
    let told = 0;
    wrapped.onChange(() => {
      told += 1;
    });
    const sha = () => wrapped.tools.get('hello')?.script.code;
    write(folder, { 'a.py': say('hello', 'two') });
    await until(() => sha()?.includes('two'), 'the new code is used');
    expect(told).toBe(0);
    write(folder, { 'a.py': say('bye') });
    await until(() => names().includes('bye'), 'the new tool is there');
    expect(told).toBe(1);
  });

  test('the same code is looked at once, however often it is saved', async () => {
    const folder = newFolder();
    write(folder, { 'a.py': say('hello'), 'b.py': say('hello') });
    open = startPungi();
    const pungi = open;
    const looked: string[] = [];
    const side = {
      discover: (request: Parameters<Pungi['discover']>[0]) => {
        looked.push(request.filename);
        return pungi.discover(request);
      },
      probe: pungi.probe.bind(pungi),
      profiles: pungi.profiles,
      environments: pungi.environments,
    };
    const wrapped = new WrappedScripts(folder, side, silentLogger, true);
    await wrapped.look();
    expect(looked.sort()).toEqual(['a.py', 'b.py']);
    write(folder, { 'a.py': say('hello') });
    await wrapped.look();
    write(folder, { 'a.py': say('hello', 'other') });
    await wrapped.look();
    write(folder, { 'a.py': say('hello') });
    await wrapped.look();
    await wrapped.close();
    expect(looked.slice(2)).toEqual(['a.py']);
  });

  test('more tools than one message can hold', async () => {
    const functions = Array.from({ length: 200 }, (_, index) => `def f${index}(): pass\n`).join('');
    const many = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`m${index}.py`, functions]));
    const { wrapped } = await offered(many);
    expect(wrapped.tools.size).toBe(1000);
    expect(wrapped.problem).toMatch(/200 are not offered/);
  });
});
