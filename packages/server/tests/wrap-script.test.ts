import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { textsOf } from './calls.js';
import { emptyFolder, type Listener, listenOverHttp, one, says } from './wrapped-listener.js';

describe('wrap_script refuses', () => {
  let client: Client;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ client, close } = await listenOverHttp('legacy', { TOOLS_DIR: emptyFolder(), WRAP_TOOLS: 'true' }));
  });
  afterAll(() => close());

  test.each([
    ['a path', { filename: '../evil.py', code: one('f', 'x') }, /cannot be the name of tools/],
    ['an absolute path', { filename: '/tmp/evil.py', code: one('f', 'x') }, /cannot be the name of tools/],
    ['no script', { filename: 'evil.sh', code: one('f', 'x') }, /must end in "\.py"/],
    ['a hidden name', { filename: '.evil.py', code: one('f', 'x') }, /cannot be the name of tools/],
    [
      'a name that is not offered',
      { filename: '_evil.py', code: one('f', 'x') },
      /cannot be the name of tools/,
    ],
    ['a syntax error', { filename: 'evil.py', code: 'def f(:\n' }, /PYTHON_ERROR: evil\.py:1:/],
    [
      'functions that are not there',
      { filename: 'evil.py', code: one('f', 'x'), functions: ['g'] },
      /"g": there is no such function/,
    ],
    ['a file outside of the script roots', { file: '/etc/passwd' }, /DENIED/],
    ['both ways', { filename: 'a.py', code: '', file: 'b.py' }, /give either filename and code, or file/],
  ])('%s, and writes nothing', async (_, args, said) => {
    const result = await client.callTool({ name: 'wrap_script', arguments: args });
    expect(result.isError).toBe(true);
    expect(textsOf(result).join('\n')).toMatch(said);
    const { structuredContent } = await client.callTool({ name: 'list_wrapped' });
    expect(structuredContent).toEqual({ scripts: [], problem: null });
  });
});

let listener: Listener | undefined;
afterEach(async () => {
  await listener?.close();
  listener = undefined;
});

const over = async (settings: Record<string, string>) => {
  listener = await listenOverHttp('legacy', settings);
  return listener.client;
};

test('a file below the script roots is registered where it lies, and unwrapping leaves it there', async () => {
  const folder = emptyFolder();
  const roots = emptyFolder();
  const script = join(roots, 'report.py');
  writeFileSync(script, one('report', 'first'));
  const client = await over({ TOOLS_DIR: folder, WRAP_TOOLS: 'true', SCRIPT_ROOTS: roots });
  const wrapped = await client.callTool({ name: 'wrap_script', arguments: { file: 'report.py' } });
  expect(wrapped.structuredContent).toMatchObject({
    name: 'report',
    file: 'report.tools.json',
    tools: ['report'],
  });
  writeFileSync(script, one('report', 'second'));
  await until(async () => (await says(listener!, 'report')) === 'second', 'the change of the script holds');
  await client.callTool({ name: 'unwrap_script', arguments: { name: 'report' } });
  expect(existsSync(join(folder, 'report.tools.json'))).toBe(false);
  expect(readFileSync(script, 'utf8')).toBe(one('report', 'second'));
});

describe('what the owner of the server put into the tools folder', () => {
  const ask = async (name: string, args: Record<string, unknown>) => {
    const result = await listener!.client.callTool({ name, arguments: args });
    return { isError: result.isError === true, said: textsOf(result).join('\n') };
  };
  const replaced = { filename: 'mine.py', code: one('mine', 'theirs'), replace: true };

  test.each([
    ['a script', { 'mine.py': one('mine', 'mine') }, /DENIED: "mine" was not wrapped with wrap_script/],
    ['a registration', { 'mine.tools.json': '{"version": 1}' }, /DENIED: "mine" was not wrapped with/],
    ['a folder', { 'mine/tools.json': '{}' }, /folder of its own in the tools folder, which its owner put/],
  ])('%s is neither replaced nor taken away by clients', async (_, files, said) => {
    const folder = emptyFolder();
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    await over({ TOOLS_DIR: folder, WRAP_TOOLS: 'true' });
    for (const refused of [
      await ask('wrap_script', replaced),
      await ask('unwrap_script', { name: 'mine' }),
    ]) {
      expect(refused).toEqual({ isError: true, said: expect.stringMatching(said) });
    }
    for (const [path, text] of Object.entries(files))
      expect(readFileSync(join(folder, path), 'utf8')).toBe(text);
  });

  test("a client's script that somebody has changed since is theirs", async () => {
    const folder = emptyFolder();
    await over({ TOOLS_DIR: folder, WRAP_TOOLS: 'true' });
    expect(await ask('wrap_script', replaced)).toMatchObject({ isError: false });
    expect(await ask('wrap_script', replaced)).toMatchObject({ isError: false });
    writeFileSync(join(folder, '.clients/mine.py'), one('mine', 'edited'));
    for (const refused of [
      await ask('wrap_script', replaced),
      await ask('unwrap_script', { name: 'mine' }),
    ]) {
      expect(refused).toEqual({
        isError: true,
        said: expect.stringMatching(/DENIED: .*changed by somebody else/),
      });
    }
    expect(readFileSync(join(folder, '.clients/mine.py'), 'utf8')).toBe(one('mine', 'edited'));
  });

  test('imports nothing that a client brought, and is imported by nothing of theirs', async () => {
    const folder = emptyFolder();
    writeFileSync(
      join(folder, 'owner.py'),
      'import far_helper\ndef fetch() -> str: return far_helper.get()\n',
    );
    await over({ TOOLS_DIR: folder, WRAP_TOOLS: 'true' });
    await ask('wrap_script', { filename: 'far_helper.py', code: one('get', 'theirs') });
    await ask('wrap_script', {
      filename: 'spy.py',
      code: 'import owner\ndef spy() -> str: return owner.__file__\n',
    });
    expect((await ask('fetch', {})).said).toContain("No module named 'far_helper'");
    expect((await ask('spy', {})).said).toContain("No module named 'owner'");
  });

  test('has its names before anything that a client brought', async () => {
    const folder = emptyFolder();
    await over({ TOOLS_DIR: folder, WRAP_TOOLS: 'true' });
    await ask('wrap_script', { filename: 'first.py', code: one('totals', 'theirs') });
    await ask('wrap_script', { filename: 'second.py', code: one('owner_totals', 'theirs') });
    writeFileSync(join(folder, 'owner.py'), one('totals', 'mine'));
    await until(async () => (await says(listener!, 'totals')) === 'mine', "the owner's tool has the name");
    expect(await says(listener!, 'first_totals')).toBe('theirs');
  });

  test('is not led elsewhere by a registration of a client', async () => {
    const [folder, roots, outside] = [emptyFolder(), emptyFolder(), emptyFolder()];
    writeFileSync(join(roots, 'a.py'), one('inside', '1'));
    writeFileSync(join(outside, 'settings.py'), one('secret', '2'));
    const client = await over({ TOOLS_DIR: folder, WRAP_TOOLS: 'true', SCRIPT_ROOTS: roots });
    await ask('wrap_script', { file: 'a.py' });
    rmSync(join(roots, 'a.py'));
    symlinkSync(join(outside, 'settings.py'), join(roots, 'a.py'));
    await until(
      async () => (await ask('list_wrapped', {})).said.includes('a link to elsewhere'),
      'the link is told',
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('secret');
  });

  test('keeps its tools when a client registers the same script', async () => {
    const [folder, roots] = [emptyFolder(), emptyFolder()];
    writeFileSync(join(roots, 'far.py'), one('first', '1') + one('second', '2'));
    symlinkSync(join(roots, 'far.py'), join(folder, 'mine.py'));
    const client = await over({ TOOLS_DIR: folder, WRAP_TOOLS: 'true', SCRIPT_ROOTS: roots });
    const wrapped = await client.callTool({
      name: 'wrap_script',
      arguments: { file: 'far.py', functions: ['first'] },
    });
    expect(wrapped.structuredContent).toMatchObject({ tools: ['far_first'] });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['first', 'second', 'far_first']));
  });
});
