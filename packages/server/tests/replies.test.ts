import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { Outcome } from '../../core/src/contract/outcome.js';
import { call, execute, textsOf } from './calls.js';
import { behindEveryDoor, TWO_DOORS } from './doors.js';

/** What a model reads of a reply, by a client that passes on the structured content and nothing else. */
const forwarded = ({ structuredContent }: CallToolResult) => JSON.stringify(structuredContent);

const run = (client: Client, code: string, more: Record<string, unknown> = {}) =>
  client.callTool({ name: 'execute_python', arguments: { code, ...more } });

/** The characters of a reply, without pictures and what programs read. */
const charsOf = ({ content, structuredContent }: CallToolResult) =>
  JSON.stringify(content).length + JSON.stringify(structuredContent).length;

behindEveryDoor({}, (door) => {
  test.each([
    ['print(1)', '{"stdout":"1\\n"}'],
    ['[1, None]', '{"value":[1,null]}'],
    ['{1}', '{"value":"{1}"}'],
    ['x = 1', '{"notes":["The code ended without output."]}'],
    ['import sys\nprint("a")\nsys.stderr.write("b")\nNone', '{"stdout":"a\\n","stderr":"b"}'],
    ['print("a")\n6 * 7', '{"value":42,"stdout":"a\\n"}'],
  ])('the structured content of %j is short and says it all', async (code, expected) => {
    const result = await run(door().client, code);
    expect(forwarded(result)).toBe(expected);
    expect(expected.length).toBeLessThanOrEqual(60);
  });

  test('a failure is an error with a sentence and the lines of the script, in both halves', async () => {
    const code = 'import json\ndef read(text):\n    return json.loads(text)\nprint("before")\nread("{")';
    const result = await run(door().client, code);
    const lines = [
      'Traceback (most recent call last):',
      '  File "main.py", line 5, in <module>',
      '    read("{")',
      '  File "main.py", line 3, in read',
      '    return json.loads(text)',
    ];
    const { error, stdout, ...others } = result.structuredContent as {
      error: { code: string; message: string; traceback: string };
      stdout: string;
    };
    expect(others).toEqual({});
    expect(stdout).toBe('before\n');
    expect(error).toMatchObject({
      code: 'PYTHON_ERROR',
      message: expect.stringMatching(/^json\.decoder\.JSONDecodeError: Expecting .* \(line 3\)$/),
    });
    // Some versions of Python mark the place below a line.
    const plain = (text: string) => text.split('\n').filter((line) => !/^[\s~^]*$/.test(line));
    expect(plain(error.traceback)).toEqual(lines);
    const [text, printed, ...rest] = textsOf(result);
    expect(plain(text!)).toEqual([`PYTHON_ERROR: ${error.message}`, ...lines]);
    expect([printed, rest]).toEqual(['before\n', []]);
  });

  test('a traceback has the lines of earlier calls and of files that the code has written', async () => {
    const { client } = door();
    const first = await run(client, 'def divide(x):\n    return 1 / x', { session: 'new' });
    const { session } = first.structuredContent as { session: string };
    const tracebackOf = async (code: string) => {
      const { structuredContent } = await run(client, code, { session });
      const { error } = structuredContent as { error: { traceback: string } };
      return error.traceback.split('\n').filter((line) => !/^[\s~^]*$/.test(line));
    };
    expect(await tracebackOf('divide(0)')).toEqual([
      'Traceback (most recent call last):',
      '  File "main_2.py", line 1, in <module>',
      '    divide(0)',
      '  File "main.py", line 2, in divide',
      '    return 1 / x',
    ]);
    const code = 'open("own.py", "w").write("def fail():\\n    raise OSError")\nimport own\nown.fail()';
    expect(await tracebackOf(code)).toEqual([
      'Traceback (most recent call last):',
      '  File "main_3.py", line 3, in <module>',
      '    own.fail()',
      '  File "own.py", line 2, in fail',
      '    raise OSError',
    ]);
    await call(client, 'end_session', { session });
  });

  test('a message that begins with an empty line is shown by its next one', async () => {
    const result = await run(door().client, 'raise ValueError("\\n\\nthe reason\\nmore")');
    expect(textsOf(result)[0]).toMatch(/^PYTHON_ERROR: ValueError: the reason \(line 1\)\n/);
  });

  test('the whole outcome is in _meta, and with replyDetail it is the structured content', async () => {
    const result = await run(door().client, 'print(1)', { replyDetail: 'full' });
    const whole = Outcome.parse(result._meta?.['pungi/outcome']);
    expect(whole).toMatchObject({ verdict: { kind: 'ok' }, stdout: { text: '1\n', bytes: 2 } });
    expect(result.structuredContent).toEqual(whole);
    const wrong = await call(door().client, 'execute_python', { code: '1', replyDetail: 'long' });
    expect(wrong.text).toContain('replyDetail: must be one of short, full');
  });

  test('a long output keeps its head and its tail, and the rest can be read', async () => {
    const { client } = door();
    const code = 'for n in range(20_000): print("line", n)';
    const result = await run(client, code);
    expect(charsOf(result)).toBeLessThan(20_000);
    const { stdout } = result.structuredContent as { stdout: string };
    expect(stdout).toMatch(/^line 0\n[\s\S]*line 19999\n$/);
    const [, run_, offset, left] =
      /\[… \d+ characters left out: read_output \{"run":"([^"]+)","offset":(\d+)\} …\]/.exec(stdout) ?? [];
    expect(left).toBeUndefined();
    const whole = Outcome.parse(result._meta?.['pungi/outcome']).stdout.text;

    const page = await call(client, 'read_output', { run: run_, offset: Number(offset) });
    const { text, next, total } = page.data as { text: string; next: number; total: number };
    expect(total).toBe(whole.length);
    expect(text).toBe(whole.slice(Number(offset), next));
    expect(page.text).toContain(`go on with offset ${next}`);
    let read = whole.slice(0, next);
    for (let at: number | undefined = next; at !== undefined; ) {
      const { data } = await call(client, 'read_output', { run: run_, offset: at });
      read += (data as { text: string }).text;
      at = (data as { next?: number }).next;
    }
    expect(read).toBe(whole);

    const tail = await call(client, 'read_output', { run: run_, tail: 2 });
    expect(tail.data).toMatchObject({ text: 'line 19998\nline 19999\n' });
    const found = await call(client, 'read_output', { run: run_, search: 'line 1234\n' });
    expect(found.data).toMatchObject({ matches: 1, text: `${whole.indexOf('line 1234\n')}: line 1234` });

    const link = result.content.find(({ type }) => type === 'resource_link') as { uri: string };
    const resource = await client.readResource({ uri: link.uri });
    expect(resource.contents).toEqual([{ uri: link.uri, mimeType: 'text/plain', text: whole }]);
  });

  test.each([
    ['text that JSON escapes', 'print("\\x01" * 100_000)'],
    ['both streams', 'import sys\nprint("a" * 90_000)\nprint("é" * 90_000, file=sys.stderr)'],
    ['a long value', '"v" * 300_000'],
    ['a large list', 'list(range(60_000))'],
    ['a long exception', 'raise ValueError("v" * 60_000)'],
    ['a deep traceback', 'def f(n): return f(n - 1) if n else 1 / 0\nf(300)'],
  ])('a reply with %s stays within the budget, in both forms', async (_, code) => {
    for (const replyDetail of ['short', 'full'])
      expect(charsOf(await run(door().client, code, { replyDetail }))).toBeLessThan(20_000);
  });

  test('the output of a run is read by its caller alone', async () => {
    const { client } = door();
    const { structuredContent } = await run(client, 'print("x" * 100_000)');
    const [, id] = /"run":"([^"]+)"/.exec((structuredContent as { stdout: string }).stdout) ?? [];
    const again = await door().another();
    const isSameServer = (await call(again, 'read_output', { run: id, tail: 1 })).isError === false;
    for (const run of ['no-such-run', `${id} `, '__proto__', '../x', 'x'.repeat(100)]) {
      const { text, isError, data } = await call(client, 'read_output', { run });
      expect([isError, text]).toEqual([true, expect.stringMatching(/^INVALID_INPUT: There is no output/)]);
      expect(data).toMatchObject({ error: { code: 'INVALID_INPUT', details: { run } } });
    }
    await expect(client.readResource({ uri: 'pungi://output/no-such-run/stdout' })).rejects.toMatchObject({
      code: -32602,
    });
    // Over stdio another client has a server of its own.
    expect([true, false]).toContain(isSameServer);
  });

  test.each([
    ['execute_python', { code: '1', cod: '2' }, 'cod: is not known; did you mean "code"?'],
    ['execute_python', { code: '1', timeout: 2 }, 'timeout: is not known; did you mean "timeoutMs"?'],
    ['execute_python', { code: '1', venv: 'a' }, 'venv: is not known; did you mean "venvName"?'],
    [
      'execute_python',
      { code: '1', files: [{ path: 'a', txt: '' }] },
      'files.0.txt: is not known; did you mean "text"?',
    ],
    ['install_packages', { package: ['a'] }, 'package: is not known; did you mean "packages"?'],
    ['execute_python', { code: '1', nonsense: 1 }, 'nonsense: is not known'],
    ['read_file', { run: 'x', path: 'a', length: 1 }, 'use one of run, session, path, offset'],
    [
      'execute_python',
      { code: '1', files: [{ path: 'a', body: '' }] },
      'files.0: use one of path, text, base64, upload',
    ],
  ])('%s with an argument that it does not have: %j', async (name, args, issue) => {
    const { text, isError, data } = await call(door().client, name, args);
    expect(isError).toBe(true);
    expect(text).toContain(`- ${issue}`);
    const issues = expect.arrayContaining([issue]);
    const error = { code: 'INVALID_INPUT', message: 'The arguments are not valid.', details: { issues } };
    expect(data).toEqual({ error });
  });

  test.each([
    ['execute_python', { code: '1', profile: 'nobody' }, 'INVALID_INPUT'],
    ['execute_python', { code: '1', venvName: 'nowhere' }, 'ENVIRONMENT_NOT_FOUND'],
    ['execute_python', { code: 'import sys; sys.exit(3)' }, 'NONZERO_EXIT'],
    ['execute_python', { code: 'while True: pass', timeoutMs: 200 }, 'EXECUTION_TIMEOUT'],
    ['list_packages', { venvName: 'nowhere' }, 'ENVIRONMENT_NOT_FOUND'],
    ['delete_venv', { venvName: 'nowhere' }, 'INVALID_INPUT'],
    ['set_venv_description', { venvName: 'nowhere', description: '' }, 'ENVIRONMENT_NOT_FOUND'],
    ['execute_strategic_code', { code: '1' }, 'INVALID_INPUT'],
    ['health_check', { all: true }, 'INVALID_INPUT'],
  ])('a failed call of %s with %j has its error as data', async (name, args, code) => {
    const result = await door().client.callTool({ name, arguments: args });
    expect(result.isError).toBe(true);
    expect(result._meta?.['pungi/error']).toMatchObject({
      code,
      message: expect.any(String),
      details: expect.any(Object),
    });
    expect(result.structuredContent).toMatchObject({ error: { code, message: expect.any(String) } });
    expect(textsOf(result)[0]).toMatch(new RegExp(`^${code}: `));
  });

  test('an unknown tool comes with the one that was meant', async () => {
    await expect(door().client.callTool({ name: 'execute_pyton' })).rejects.toThrow(
      'Tool execute_pyton not found; did you mean execute_python?',
    );
  });
});

test.each(TWO_DOORS)('the settings decide, $era client over $transport', async ({ era, connect }) => {
  const { client, close } = await connect(era, { REPLY_CHARS: '4000', REPLY_DETAIL: 'full' });
  try {
    const { tools } = await client.listTools();
    expect(tools[0]?._meta).toEqual({ 'anthropic/maxResultSizeChars': 4000 });
    const result = await run(client, 'print("x" * 100_000)');
    expect(charsOf(result)).toBeLessThan(4000);
    expect(Outcome.parse(result.structuredContent).stdout).toMatchObject({ truncated: true, bytes: 100_001 });
    const short = await execute(client, { code: '1', replyDetail: 'short' });
    expect(short.structured).toEqual({ value: 1 });
  } finally {
    await close();
  }
});
