import type { CallToolResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/places.js';
import { type AnyClient, CLIENTS, ensurePythonSdk } from './interpreter-clients.js';

const SETUP_MS = 600_000;
const TEST_MS = 60_000;

/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SHOW = `display({"image/png": "${PNG}"}, raw=True)\nprint("after")`;
const LONG = 'for number in range(20_000): print("line", number)';

const textOf = ({ content }: CallToolResult) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
const linkIn = ({ content }: CallToolResult, name: string) =>
  content.find((block) => block.type === 'resource_link' && block.name === name) as { uri: string };

beforeAll(() => ensurePythonSdk().then(() => {}), SETUP_MS);

/** What a code interpreter is for, as every client gets it. */
const SURFACE: [outcome: string, use: (client: AnyClient) => Promise<void>][] = [
  [
    'prints, and has the value of the last expression',
    async (client) => {
      const reply = await client.call('execute_python', { code: 'print("hello")\n6 * 7' });
      expect(reply.isError ?? false).toBe(false);
      expect(textOf(reply)).toBe('hello\n\n42');
      expect(reply.structuredContent).toEqual({ value: 42, stdout: 'hello\n' });
    },
  ],
  [
    'keeps variables from one call to the next',
    async (client) => {
      const first = await client.call('execute_python', { code: 'x = 20', session: 'new' });
      const [, session] = /session: (\S+)/.exec(textOf(first))!;
      expect(first.structuredContent).toMatchObject({ session });
      const second = await client.call('execute_python', { code: 'x + 1', session });
      expect(textOf(second)).toBe('21');
      expect(textOf(await client.call('list_sessions', {}))).toMatch(/session-/);
      await client.call('end_session', { session });
      const gone = await client.call('execute_python', { code: 'x', session });
      expect(gone.isError).toBe(true);
      expect(textOf(gone)).toContain('SESSION_ENDED');
    },
  ],
  [
    'saves, restores and forks a session',
    async (client) => {
      const first = await client.call('execute_python', { code: 'x = 1', session: 'new' });
      const [, session] = /session: (\S+)/.exec(textOf(first))!;
      const copy = async (args: object) =>
        textOf(await client.call('checkpoint_session', { session, ...args }));
      const value = async (id = session) =>
        textOf(await client.call('execute_python', { code: 'x', session: id }));
      expect(await copy({ action: 'checkpoint' })).toBe('checkpoint: c1');
      await client.call('execute_python', { code: 'x = 2', session });
      const [, forked] = /session: (\S+)/.exec(await copy({ action: 'fork' }))!;
      expect(await copy({ action: 'restore', checkpoint: 'c1' })).toBe('restored: c1');
      expect([await value(), await value(forked)]).toEqual(['1', '2']);
      for (const id of [session, forked]) await client.call('end_session', { session: id });
    },
  ],
  [
    'sends a file in parts, lists it, and has it in a run',
    async (client) => {
      const begun = await client.call('upload_file', { text: 'one\n' });
      const { upload } = begun.structuredContent as { upload: string };
      await client.call('upload_file', { base64: btoa('two\n'), upload, offset: 4 });
      // Over HTTP without tokens anybody could have this client's name: its handles are not listed.
      expect(textOf(await client.call('list_files', {}))).toMatch(
        new RegExp(`${upload}|not listed over HTTP`),
      );
      const code = 'print(open("in.txt").read(), end="")';
      const reply = await client.call('execute_python', { code, files: [{ path: 'in.txt', upload }] });
      expect(textOf(reply)).toBe('one\ntwo\n');
    },
  ],
  [
    'runs in the background, is listed, waited for and cancelled',
    async (client) => {
      const start = async (code: string) => {
        const begun = await client.call('execute_python', { code, background: true });
        return (begun.structuredContent as { run: string }).run;
      };
      const short = await start('print("done")');
      expect(textOf(await client.call('get_run', { run: short, wait: 30_000 }))).toBe('done\n');
      const long = await start('while True: pass');
      expect(textOf(await client.call('list_runs', {}))).toContain(long.slice(0, 10));
      await client.call('cancel_run', { run: long });
      const ended = await client.call('get_run', { run: long, wait: 30_000 });
      expect(ended.isError).toBe(true);
      expect(textOf(ended)).toMatch(/^CANCELLED/);
    },
  ],
  [
    'shows a picture at its place, which is also a file',
    async (client) => {
      const reply = await client.call('execute_python', { code: SHOW });
      expect(reply.content.slice(0, 2)).toMatchObject([
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'text', text: 'after\n' },
      ]);
      expect(await client.read(linkIn(reply, 'figure-1.png').uri)).toMatchObject({
        blob: PNG,
        mimeType: 'image/png',
      });
    },
  ],
  [
    'leaves a file that is read by the tool and as a resource',
    async (client) => {
      const code = 'open("out.csv", "w").write("a,b\\n1,2\\n")\nNone';
      const reply = await client.call('execute_python', { code });
      const [, run] = /read_file with run (\S+): out\.csv/.exec(textOf(reply))!;
      expect(textOf(await client.call('read_file', { run, path: 'out.csv' }))).toBe('a,b\n1,2\n');
      expect((await client.read(linkIn(reply, 'out.csv').uri)).text).toBe('a,b\n1,2\n');
    },
  ],
  [
    'cuts long output, and reads the rest by the tool and as a resource',
    async (client) => {
      const reply = await client.call('execute_python', { code: LONG });
      expect(textOf(reply)).toMatch(/^line 0\n/);
      expect(textOf(reply)).not.toContain('line 10000\n');
      const [run] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(textOf(reply))!;
      const found = await client.call('read_output', { run, search: 'line 10000' });
      expect(textOf(found)).toContain('line 10000');
      expect((await client.read(linkIn(reply, 'stdout').uri)).text).toContain('\nline 10000\n');
    },
  ],
  [
    'says what is wrong with code that fails',
    async (client) => {
      const reply = await client.call('execute_python', { code: 'def f():\n    return 1 / 0\nf()' });
      expect(reply.isError).toBe(true);
      expect(textOf(reply)).toMatch(/^PYTHON_ERROR: ZeroDivisionError/);
      expect(textOf(reply)).toContain('line 2, in f');
      expect(reply.structuredContent).toMatchObject({ error: { code: 'PYTHON_ERROR' } });
    },
  ],
  [
    'says what is wrong with arguments',
    async (client) => {
      const reply = await client.call('execute_python', { cod: '1' });
      expect(reply.isError).toBe(true);
      expect(textOf(reply)).toContain('did you mean');
    },
  ],
];

describe.each(CLIENTS)('$name', ({ connect }) => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await connect({ ARTIFACT_DIR: temporaryFolder() });
  }, SETUP_MS);
  afterAll(() => client?.close());

  test('finds the tools', { timeout: TEST_MS }, async () => {
    expect(await client.tools()).toEqual(
      expect.arrayContaining([
        'execute_python',
        'read_output',
        'read_file',
        'list_files',
        'upload_file',
        'list_sessions',
        'end_session',
        'checkpoint_session',
        'get_run',
        'cancel_run',
        'list_runs',
      ]),
    );
  });

  test.each(SURFACE)('%s', { timeout: TEST_MS }, (_, use) => use(client));
});

/** Some clients pass a model `JSON.stringify(structuredContent)` and nothing else. */
describe('a model that gets only structured content', () => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await CLIENTS[0]!.connect({ ARTIFACT_DIR: temporaryFolder() });
  }, SETUP_MS);
  afterAll(() => client?.close());

  const forward = async (tool: string, args: Record<string, unknown>) =>
    JSON.stringify((await client.call(tool, args)).structuredContent);
  const execute = async (args: Record<string, unknown>) => {
    const seen = await forward('execute_python', args);
    expect(seen.length).toBeLessThan(20_000);
    return JSON.parse(seen) as Record<string, never>;
  };

  test('learns output, value and error', { timeout: TEST_MS }, async () => {
    expect(await forward('execute_python', { code: 'print(1)' })).toBe('{"stdout":"1\\n"}');
    expect(await execute({ code: 'print("a")\n{"b": [1]}' })).toEqual({ value: { b: [1] }, stdout: 'a\n' });
    expect(await execute({ code: 'print("before")\nopen("none")' })).toMatchObject({
      error: {
        code: 'PYTHON_ERROR',
        message: expect.stringContaining('FileNotFoundError'),
        traceback: expect.stringContaining('line 2'),
      },
      stdout: 'before\n',
    });
    expect(await execute({ code: 'pass' })).toEqual({ notes: [expect.stringContaining('without output')] });
  });

  test('learns the handle of a session, and that it has ended', { timeout: TEST_MS }, async () => {
    const { session } = await execute({ code: 'x = 1', session: 'new' });
    expect(await execute({ code: 'x + 1', session })).toMatchObject({ value: 2 });
    const ended = await execute({ code: 'import os\nos._exit(3)', session });
    expect(ended).toMatchObject({ error: {}, notes: [expect.stringContaining('session has ended')] });
  });

  test('learns which files there are, and reads them', { timeout: TEST_MS }, async () => {
    const { run, files } = await execute({ code: 'open("a b.txt", "w").write("content")\nNone' });
    expect(files).toEqual(['a b.txt']);
    const read = await forward('read_file', { run, path: files![0] });
    expect(JSON.parse(read)).toMatchObject({ text: 'content' });
  });

  test('learns that there are pictures, their size, and where they are', { timeout: TEST_MS }, async () => {
    const seen = await execute({ code: SHOW });
    expect(seen).toMatchObject({
      stdout: 'after\n',
      displays: [{ 'image/png': '(1 × 1 pixels)' }],
      files: ['figure-1.png'],
    });
    const read = await forward('read_file', { run: seen['run'], path: 'figure-1.png' });
    expect(JSON.parse(read)).toMatchObject({ base64: PNG });
  });

  test('learns that there are more files than it sees', { timeout: TEST_MS }, async () => {
    const code = 'for number in range(30): open(f"{number}.txt", "w").write("x")';
    const { files, notes } = await execute({ code });
    expect(files).toHaveLength(20);
    expect(notes).toContain('The run left 10 more files.');
  });

  test.each([
    ['output', LONG, 'line 10000'],
    [
      'an error output',
      'import sys\nfor number in range(9000): print("n", number, file=sys.stderr)',
      'n 4500',
    ],
    ['a value', 'list(range(9000))', '4500'],
    ['a traceback', 'raise ValueError("\\n".join(map(str, range(6000))))', '1500'],
  ])('learns that %s was cut, and how to read the rest', { timeout: TEST_MS }, async (_, code, missing) => {
    const seen = await execute({ code });
    const [, asked] = /read_output (\{.*?\})/.exec(Object.values(seen).map(textIn).join('\n'))!;
    const { run, part } = JSON.parse(asked!) as { run: string; part?: string };
    expect(await forward('read_output', { run, ...(part && { part }), search: missing })).toContain(missing);
  });
});

/** All texts of a part of the structured content, as they are. */
const textIn = (part: unknown): string =>
  typeof part === 'string'
    ? part
    : Object.values((part ?? {}) as object)
        .map(textIn)
        .join('\n');
