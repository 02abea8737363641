import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { textsOf } from './calls.js';
import {
  emptyFolder,
  LISTENERS,
  type Listener,
  listenOverHttp,
  listenOverStdio,
  one,
  says,
} from './wrapped-listener.js';

let listener: Listener | undefined;
afterEach(async () => {
  await listener?.close();
  listener = undefined;
});

const hears = ({ heard }: Listener, what: string, condition: (names: string[]) => boolean) =>
  until(() => condition((heard() ?? []).map(({ name }) => name)), what);

describe.each(LISTENERS)('$era client over $transport', ({ era, listen }) => {
  test('saving, breaking, mending and deleting a script is told, and holds for the next call', async () => {
    const folder = emptyFolder();
    const script = join(folder, 'a.py');
    listener = await listen(era, { TOOLS_DIR: folder });
    await listener.client.listTools();
    writeFileSync(script, one('hello', 'first'));
    await hears(listener, 'hello is there', (names) => names.includes('hello'));
    expect(await says(listener, 'hello')).toBe('first');

    writeFileSync(script, `${one('hello', 'second')}${one('bye', 'bye')}`);
    await hears(listener, 'bye is there', (names) => names.includes('bye'));
    expect(await says(listener, 'hello')).toBe('second');

    writeFileSync(script, 'def hello(:\n');
    const broken = await until(async () => {
      const { structuredContent } = await listener!.client.callTool({ name: 'list_wrapped' });
      const [found] = (structuredContent as { scripts: { problem: string | null; tools: string[] }[] })
        .scripts;
      return found?.problem == null ? undefined : found;
    }, 'the script is reported as broken');
    expect(broken).toMatchObject({
      tools: ['hello', 'bye'],
      problem: expect.stringMatching(/a\.py:1:\d+ is not valid Python/),
    });
    expect(await says(listener, 'hello')).toBe('second');

    writeFileSync(script, one('bye', 'last'));
    await hears(listener, 'hello is gone', (names) => names.includes('bye') && !names.includes('hello'));
    await expect(listener.client.callTool({ name: 'hello' })).rejects.toThrow(/not found/);

    rmSync(script);
    await hears(listener, 'bye is gone', (names) => !names.includes('bye'));
  });

  test('clients that may wrap scripts do so, and unwrap them', async () => {
    const folder = join(emptyFolder(), 'not-there-yet');
    listener = await listen(era, { TOOLS_DIR: folder, WRAP_TOOLS: 'true' });
    const { client } = listener;
    const wrapped = await client.callTool({
      name: 'wrap_script',
      arguments: {
        filename: 'greet.py',
        code: `${one('hello', 'hi')}${one('bye', 'bye')}`,
        functions: ['hello'],
      },
    });
    expect(wrapped.structuredContent).toMatchObject({ name: 'greet', tools: ['hello'], problem: null });
    expect(await says(listener, 'hello')).toBe('hi');
    await hears(listener, 'hello is there', (names) => names.includes('hello') && !names.includes('bye'));

    const again = await client.callTool({
      name: 'wrap_script',
      arguments: { filename: 'greet.py', code: one('hello', 'again') },
    });
    expect(again.isError).toBe(true);
    expect(textsOf(again)[0]).toMatch(
      /wrapped as "greet" already: choose another name, or pass replace: true/,
    );
    await client.callTool({
      name: 'wrap_script',
      arguments: { filename: 'greet.py', code: one('hello', 'again'), replace: true },
    });
    expect(await says(listener, 'hello')).toBe('again');

    const gone = await client.callTool({ name: 'unwrap_script', arguments: { name: 'greet' } });
    expect(gone.structuredContent).toEqual({ name: 'greet', unwrapped: true });
    expect(existsSync(join(folder, '.clients/greet.py'))).toBe(false);
    await expect(client.callTool({ name: 'hello' })).rejects.toThrow(/not found/);
  });
});

test('without a tools folder nothing of this is offered; without WRAP_TOOLS only looking is', async () => {
  const names = async (settings: Record<string, string>) => {
    const { client, close } = await listenOverHttp('legacy', settings);
    const { tools } = await client.listTools();
    const { listChanged } = client.getServerCapabilities()?.tools ?? {};
    await close();
    return [tools.map(({ name }) => name).filter((name) => /wrap/.test(name)), listChanged];
  };
  expect(await names({})).toEqual([[], false]);
  expect(await names({ TOOLS_DIR: emptyFolder() })).toEqual([['list_wrapped'], true]);
  expect(await names({ TOOLS_DIR: emptyFolder(), WRAP_TOOLS: 'true' })).toEqual([
    ['list_wrapped', 'wrap_script', 'unwrap_script'],
    true,
  ]);
});

test('pungi serve --tools FOLDER', async () => {
  const folder = emptyFolder();
  writeFileSync(join(folder, 'a.py'), one('hello', 'hi'));
  listener = await listenOverStdio('modern', {}, ['--tools', folder]);
  expect(await says(listener, 'hello')).toBe('hi');
});
