import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { MAIN } from '../../../tests/support/main.js';
import { ownFolders } from '../../../tests/support/own-folders.js';
import { temporaryFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { call, execute } from './calls.js';
import { behindEveryDoor, type Connection, type Era, NO_ENVIRONMENTS, newClient } from './doors.js';

const folder = temporaryFolder();
const FOREVER = 'print("begun", flush=True)\nwhile True: pass';

/** Starts a run in the background and returns its handle. */
async function start({ client }: Pick<Connection, 'client'>, args: Record<string, unknown>): Promise<string> {
  const { text, data } = await call(client, 'execute_python', { ...args, background: true });
  const { run } = data as { run: string };
  expect(text).toBe(`The run goes on in the background: get_run {"run": "${run}", "wait": 30000}`);
  return run;
}

/** The reply of the run, once it has ended. */
async function ended({ client }: Pick<Connection, 'client'>, run: string) {
  return until(async () => {
    const result = await client.callTool({ name: 'get_run', arguments: { run, wait: 10_000 } });
    return result._meta?.['pungi/outcome'] === undefined ? undefined : result;
  }, 'the run has ended');
}

const scripts = temporaryFolder();
// The sandbox's user reads them.
chmodSync(scripts, 0o755);
writeFileSync(join(scripts, 'job.py'), 'import helper\nprint(helper.WORD)');
writeFileSync(join(scripts, 'helper.py'), 'WORD = "beside"');

behindEveryDoor({ BACKGROUND_DIR: join(folder, 'runs'), SCRIPT_ROOTS: scripts }, (door) => {
  test('a file of the server is run in the background, with what lies beside it', async () => {
    const args = { filePath: join(scripts, 'job.py'), background: true };
    const { data } = await call(door().client, 'execute_python_file', args);
    const { structuredContent } = await ended(door(), (data as { run: string }).run);
    expect(structuredContent).toEqual({ stdout: 'beside\n' });
  });

  test('a background run replies in the end as the call would have', async () => {
    const args = { code: 'print("x")\nopen("a.txt", "w").write("y")\n[1, 2]' };
    const run = await start(door(), args);
    const later = await ended(door(), run);
    const direct = await door().client.callTool({ name: 'execute_python', arguments: args });
    const { run: ownId, ...structured } = later.structuredContent as Record<string, unknown>;
    const { run: otherId, ...expected } = direct.structuredContent as Record<string, unknown>;
    expect(structured).toEqual(expected);
    expect(ownId).not.toBe(otherId);
    expect(later.isError).toBe(direct.isError);
    expect(later.content.map(({ type }) => type)).toEqual(direct.content.map(({ type }) => type));
    const file = await call(door().client, 'read_file', { run: ownId, path: 'a.txt' });
    expect(file.text).toContain('y');
  });

  test('the form of the reply is the one that the call asked for', async () => {
    const run = await start(door(), { code: 'print(1)', replyDetail: 'full' });
    expect((await ended(door(), run)).structuredContent).toMatchObject({ verdict: { kind: 'ok' } });
    const short = await call(door().client, 'get_run', { run, replyDetail: 'short' });
    expect(short.data).toEqual({ stdout: '1\n' });
  });

  test('output that is too long for the reply is read with read_output', async () => {
    const run = await start(door(), { code: 'for i in range(20_000): print(i)' });
    const { _meta } = await ended(door(), run);
    const { runId } = _meta!['pungi/outcome'] as { runId: string };
    const page = await call(door().client, 'read_output', { run: runId, tail: 1 });
    expect(page.text).toContain('19999');
  });

  test('a run that goes on shows its newest lines, and is listed and cancelled', async () => {
    const run = await start(door(), { code: FOREVER });
    const seen = await until(async () => {
      const { text } = await call(door().client, 'get_run', { run, wait: 10_000 });
      return text.includes('begun') && text;
    }, 'it has printed');
    expect(seen).toBe(`${run}: running\nbegun`);
    const { text } = await call(door().client, 'list_runs');
    expect(text.split('\n')[0]).toMatch(/^run-\S+: running, from 2/);
    expect((await call(door().client, 'cancel_run', { run })).text).toBe('The run was cancelled.');
    const late = await call(door().client, 'get_run', { run });
    expect(late).toMatchObject({ isError: true, text: expect.stringContaining('CANCELLED') });
    expect((await call(door().client, 'cancel_run', { run })).text).toBe('The run was cancelled.');
  });

  test('a handle that is none, or too long, is an error with a clear sentence', async () => {
    for (const name of ['get_run', 'cancel_run']) {
      const unknown = await call(door().client, name, { run: `run-${'x'.repeat(22)}` });
      expect(unknown).toMatchObject({
        isError: true,
        text: expect.stringContaining('RUN_NOT_FOUND: There is no such background run'),
      });
      const long = await call(door().client, name, { run: 'x'.repeat(5000) });
      expect(long.text).toContain('INVALID_INPUT');
    }
    const badWait = await call(door().client, 'get_run', { run: 'run-x', wait: -1 });
    expect(badWait.text).toContain('wait');
  });

  test('a call with a progress token gets its handle, and no progress after it', async () => {
    const heard: unknown[] = [];
    const result = await door().client.callTool(
      { name: 'execute_python', arguments: { code: 'print(1)', background: true } },
      { onprogress: (progress) => heard.push(progress) },
    );
    const { run } = result.structuredContent as { run: string };
    await ended(door(), run);
    expect(heard).toEqual([]);
  });
});

const { PATH = '', HOME = '' } = process.env;
const env = { PATH, HOME, ...ownFolders(), ...NO_ENVIRONMENTS, BACKGROUND_DIR: join(folder, 'stdio') };

async function connect(name = 'tests', era: Era = 'legacy') {
  const client = newClient(era, name);
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [MAIN, 'serve'], env }));
  return client;
}

test.each(['legacy', 'modern'] as const)(
  'a %s client that disconnects finds how its run ended when it comes back; another client does not',
  async (era) => {
    const first = await connect('tests', era);
    const run = await start({ client: first }, { code: FOREVER });
    const done = await start({ client: first }, { code: 'print("done")' });
    await ended({ client: first }, done);
    await first.close();
    const second = await connect('tests', era);
    const { texts } = await execute(second, { run }, 'get_run');
    expect(texts[0]).toBe('CANCELLED: The run was cancelled: the server was stopped.');
    expect((await execute(second, { run: done }, 'get_run')).texts).toEqual(['done\n']);
    await second.close();
    const other = await connect(`other of ${era}`, era);
    for (const one of [run, done])
      expect((await call(other, 'get_run', { run: one })).text).toContain('RUN_NOT_FOUND');
    expect((await call(other, 'list_runs')).text).toBe('There are no background runs.');
    await other.close();
  },
);

test('a server that gets SIGTERM ends its runs and says so afterwards; one that is killed loses them and says that', async () => {
  const runs: string[] = [];
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const transport = new StdioClientTransport({ command: process.execPath, args: [MAIN, 'serve'], env });
    const client = newClient('legacy');
    await client.connect(transport);
    const run = await start({ client }, { code: FOREVER });
    await until(
      async () => (await call(client, 'get_run', { run, wait: 10_000 })).text.includes('begun'),
      'it has printed',
    );
    const gone = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    process.kill(transport.pid!, signal);
    await gone;
    runs.push(run);
  }
  const client = await connect();
  const texts = [];
  for (const run of runs) texts.push((await call(client, 'get_run', { run })).text);
  expect(texts[0]).toContain('CANCELLED: The run was cancelled: the server was stopped.');
  expect(texts[1]).toContain('RUN_LOST: The server was ended while the run was under way');
  await client.close();
});
