import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { descendants, isAlive, program, type Running } from './pungi.js';
import { SharedPlace } from './shared-server.js';

const place = new SharedPlace();
const scripts = join(place.state, 'scripts');
const script = join(scripts, 'script.py');
let server: Running;

beforeAll(async () => {
  mkdirSync(scripts);
  writeFileSync(
    script,
    'import sys\nprint(sys.argv, sys.stdin.read())\n"a value that scripts do not show"\n',
  );
  writeFileSync(join(scripts, 'imports.py'), 'import neighbour\n');
  writeFileSync(join(scripts, 'packages.py'), '# /// script\n# dependencies = []\n# ///\nprint(1)\n');
  writeFileSync(join(scripts, 'neighbour.py'), 'print("imported")\n');
  writeFileSync(join(scripts, 'fails.py'), 'def f():\n    return 1 / 0\nf()\n');
  if (process.platform === 'linux') server = await place.serve();
});
afterAll(() => void server?.child.kill());

const SLEEPER = 'print("started", flush=True); import time; time.sleep(1000)';
const UNTIL = { timeout: 20_000 };

describe.runIf(process.platform === 'linux')('a command beside a server', () => {
  test.each<[string, string[], string?]>([
    ['prints', ['-c', 'print(1)']],
    ['shows the value of code', ['-c', '6 * 7']],
    ['passes bytes', ['-c', 'import os; os.write(1, bytes(range(256))); os.write(2, b"\\xff\\0")']],
    ['prints much', ['-c', 'for i in range(200_000): print(i)']],
    ['ends with a status', ['-c', 'import sys; sys.exit(3)']],
    ['is killed', ['-c', 'import os; os.kill(os.getpid(), 11)']],
    ['raises', ['-c', 'import sys; print("e", file=sys.stderr); 1 / 0']],
    ['advises as a command', ['-c', 'import requests, surely_not_there']],
    ['mentions files that are lost', ['-c', 'open("left.txt", "w").write("x")']],
    ['reads standard input', ['-c', 'import sys; print(sys.stdin.read())'], 'some\ninput\n'],
    ['reads much', ['-c', 'import sys; print(len(sys.stdin.read()))'], 'x'.repeat(1_000_000)],
    ['reads none of its input', ['-c', 'pass'], 'input'],
    ['reads a text', ['--stdin', 'text', '-c', 'input()']],
    ['has arguments', ['-c', 'import sys; print(sys.argv)', 'one', 'two']],
    ['has a context', ['--context', '{"rate": 2}', '--capability', 'tests', '-c', 'context["rate"]']],
    ['names a context that is no JSON', ['--context', '{', '-c', 'context']],
    ['reaches its time limit', ['--timeout', '300', '-c', 'while True: pass']],
    ['runs a file', [script, '--flag', 'x'], 'input'],
    ['shows the traceback of a file', [join(scripts, 'fails.py')]],
    ['refuses code that is too large', ['--json', '--stdin', 'x'.repeat(100_000), '-c', '1']],
  ])('%s as one alone', async (_, args, input = '') => {
    const alone = await place.run(args, { input, env: { SHARE_SERVER: 'false' } });
    const beside = await place.run(args, { input });
    expect(alone.byServer).toBe(false);
    if (args.includes('--json')) {
      const comparable = (text: string) => ({ ...JSON.parse(text), runId: '', usage: {} });
      expect(comparable(beside.stdout)).toEqual(comparable(alone.stdout));
      expect(beside).toMatchObject({ byServer: true, status: alone.status, stderr: alone.stderr });
    } else expect(beside).toEqual({ ...alone, byServer: true });
  });

  test('finds a file by a relative path', async () => {
    const { stdout, byServer } = await place.run(['./script.py', 'x'], { cwd: scripts });
    expect({ stdout, byServer }).toEqual({ stdout: "['script.py', 'x'] \n", byServer: true });
  });

  test.each<[string, string[], string]>([
    ['an environment', ['--env', 'none', '-c', '1'], ''],
    ['a file for the work folder', ['--file', `x=${script}`, '-c', 'open("x").close()'], ''],
    ['a folder for what is left', ['--out', join(place.state, 'out'), '-c', '1'], '1\n'],
    ['data', ['--data', scripts, '-c', '1'], '1\n'],
    ['more memory', ['--memory', '600', '-c', '1'], '1\n'],
    ['a setting', ['--max-open-files', '100', '-c', '1'], '1\n'],
    ['a context in a file', ['--context', `@${script}`, '-c', '1'], ''],
    ['options after the code', ['-c', '1', '--json'], '1\n'],
    ['a script that imports its neighbour', [join(scripts, 'imports.py')], 'imported\n'],
    ['a script with a list of packages', [join(scripts, 'packages.py')], '1\n'],
    ['no file', [join(scripts, 'missing.py')], ''],
    ['nothing', [], ''],
  ])('runs by itself with %s', async (_, args, stdout) => {
    expect(await place.run(args)).toMatchObject({ stdout, byServer: false });
  });

  test.each<[string, Record<string, string>]>([
    ['other settings', { MAX_PROCESSES: '17' }],
    ['a configuration file', { PUNGI_CONFIG: join(scripts, 'pungi.yaml') }],
    ['another home', { HOME: scripts }],
    ['an invalid setting', { MAX_PROCESSES: 'many' }],
  ])('runs by itself with %s', async (_, env) => {
    writeFileSync(join(scripts, 'pungi.yaml'), 'maxMemoryMb: 300\n');
    expect(await place.run(['-c', 'print(1)'], { env })).toMatchObject({ byServer: false });
  });

  test.each([
    ['another priority', 'exec nice -n 3', false],
    ['other limits', 'ulimit -n 700; exec', false],
    ['another mask', 'umask 077; exec', false],
    ['nothing else', 'exec', true],
  ])('inherits %s, which decides who runs it', async (_, prepared, byServer) => {
    expect(await place.runAfter(prepared, ['-c', 'print(1)'])).toBe(byServer);
  });

  test('runs by itself in a folder with profiles', async () => {
    const cwd = join(place.state, 'project');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'profiles.yaml'), 'profiles: {}\n');
    expect(await place.run(['-c', 'print(1)'], { cwd })).toMatchObject({ byServer: false });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s cancels the run, and leaves no process', async (signal) => {
    const idle = runs();
    const { child, ended, shows } = place.command(['--stdin', '', '-c', SLEEPER]);
    await shows('stdout', 'started\n');
    expect(descendants(child.pid!)).toEqual([]);
    child.kill(signal);
    expect(await ended).toEqual({ status: 130, stdout: 'started\n', stderr: CANCELLED });
    await expect.poll(() => runs(), UNTIL).toEqual(idle);
  });

  test('the end of the command is the end of the run', async () => {
    const { child, ended, shows } = place.command(['--stdin', '', '-c', SLEEPER]);
    await shows('stdout', 'started\n');
    const before = verdicts('cancelled');
    child.kill('SIGKILL');
    await ended;
    await expect.poll(() => verdicts('cancelled'), UNTIL).toBe(before + 1);
  });

  test('a run whose reader has gone is cancelled', async () => {
    const { child, ended, shows } = place.command(['--stdin', '', '-c', 'while True: print("y" * 100)']);
    await shows('stdout', 'yyy\n');
    child.stdout.destroy();
    expect((await ended).status).toBe(130);
  });

  test('is recorded as one alone', async () => {
    const own = new SharedPlace();
    const env = { AUDIT: 'true', AUDIT_DIR: join(own.state, 'trail') };
    const recording = await own.serve(env);
    const args = ['--stdin', 'x', '--capability', 'tests', '--timeout', '5000', '-c', 'print(input())'];
    expect(await own.run(args, { env })).toMatchObject({ stdout: 'x\n', byServer: true });
    expect(await own.run(args, { env: { ...env, SHARE_SERVER: 'false' } })).toMatchObject({
      byServer: false,
    });
    recording.child.kill();
    await recording.ended;
    const { stdout } = await program(['audit', 'export', '--kind', 'run'], { env });
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    // Each run has its own number, time and usage.
    const OWN = ['seq', 'time', 'runId', 'hash', 'prevHash', 'usage'];
    const comparable = (entry: object): object =>
      JSON.parse(JSON.stringify(entry, (name, value) => (OWN.includes(name) ? undefined : value)));
    expect(entries).toHaveLength(2);
    expect(comparable(entries[0])).toEqual(comparable(entries[1]));
    expect(entries[0]).toMatchObject({ client: 'cli' });
  });

  test('many commands at once all have their results', async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index);
    const ended = await Promise.all(numbers.map((number) => place.run(['-c', `print(${number})`])));
    expect(ended.map(({ stdout }) => Number(stdout))).toEqual(numbers);
  });

  test('does not find the socket from inside the sandbox', async () => {
    const [name] = readdirSync(place.sockets);
    const path = join(place.sockets, name!);
    const code = `import socket; socket.socket(socket.AF_UNIX).connect(${JSON.stringify(path)})`;
    const { byServer, stderr } = await place.run(['-c', code]);
    expect(byServer).toBe(true);
    expect(stderr).toMatch(/FileNotFoundError|PermissionError/);
    const shown = await place.run(['--data', place.state, '-c', 'print(1)']);
    expect(shown.stderr).toMatch(/holds a socket|cannot read the data folder/);
  });
});

test.runIf(process.platform === 'linux')(
  'a server that dies fails the command, which does not run twice',
  async () => {
    const own = new SharedPlace();
    const mortal = await own.serve();
    const { child, ended, shows } = own.command(['-c', SLEEPER]);
    await shows('stdout', 'started\n');
    mortal.child.kill('SIGKILL');
    const { status, stdout, stderr } = await ended;
    child.stdin.end();
    expect({ status, stdout }).toEqual({ status: 70, stdout: 'started\n' });
    expect(stderr).toMatch(/^pungi: the server that did this run has ended[^\n]*\n$/);
  },
);

test.runIf(process.platform === 'linux')('commands leave a slot to the clients of the server', async () => {
  const own = new SharedPlace();
  const settings = { MAX_CONCURRENT_EXECUTIONS: '2' };
  const small = await own.serve(settings);
  const { child, ended, shows } = own.command(['--stdin', '', '-c', SLEEPER], { env: settings });
  await shows('stdout', 'started\n');
  const isTaken = async () => (await own.run(['-c', 'print(1)'], { env: settings })).byServer;
  expect(await isTaken()).toBe(false);
  child.kill('SIGINT');
  await ended;
  await expect.poll(isTaken, UNTIL).toBe(true);
  small.child.kill();
});

test.runIf(process.platform === 'linux')(
  'a server that is stopped cancels what it runs for commands',
  async () => {
    const own = new SharedPlace();
    const stopping = await own.serve();
    const { ended, shows } = own.command(['--stdin', '', '-c', SLEEPER]);
    await shows('stdout', 'started\n');
    stopping.child.kill('SIGTERM');
    expect(await ended).toMatchObject({ status: 130, stdout: 'started\n' });
    expect((await stopping.ended).status).toBe(0);
    expect(own.names()).toEqual([]);
  },
);

const CANCELLED = 'pungi: The run was cancelled.\n';

/** The processes of runs and of parked workers below the server. */
const runs = () => descendants(server.child.pid!).filter(isAlive).length;

let log = '';
beforeAll(() => void server?.child.stderr.on('data', (text: string) => (log += text)));
const verdicts = (kind: string) => log.split(`"verdict":"${kind}"`).length - 1;
