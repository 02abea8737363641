import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { descendantsOf } from '../../../../tests/support/processes.js';
import { until } from '../../../../tests/support/until.js';
import type { ToolOptions } from '../../src/sandbox/tool.js';
import { living, outliveServer, python, run, shell, temporaryFolder } from './shell-tool.js';

const folder = temporaryFolder();

/** A tool with a child beside it that ignores every polite signal; it says so when both are there. */
const STAYING = `trap '' TERM INT HUP; sleep 100001 & sleep 100002 & echo staying >&2; wait`;

/** Starts a tool that stays, and gives the processes of it. */
async function startStaying(options: Partial<ToolOptions>) {
  let isStaying = false;
  const ended = run(shell(STAYING), { ...options, onLine: () => (isStaying = true) }).catch((error) => error);
  await until(() => isStaying, 'the tool stays');
  return {
    ended,
    processes: descendantsOf(process.pid).filter(({ command }) => /^(sh|dash|sleep)$/.test(command)),
  };
}

test('gives the status and both outputs', async () => {
  const end = await run(shell('echo out; printf "é\\n" >&2; exit 3'));
  expect(end).toEqual({ status: 3, signal: null, stdout: 'out\n', stderr: 'é\n' });
});

test('gives the signal that ended it', async () => {
  expect(await run(shell('kill -SEGV $$'))).toMatchObject({ status: null, signal: 'SIGSEGV' });
});

test('gives input larger than a pipe, and its end', async () => {
  const stdin = 'x'.repeat(1_000_000);
  expect((await run(shell('wc -c', { stdin }))).stdout.trim()).toBe('1000000');
});

test('without input there is none to wait for', async () => {
  expect((await run(shell('cat; echo over'))).stdout).toBe('over\n');
});

test('a tool that does not read its input is no error', async () => {
  expect(await run(shell('exit 0', { stdin: 'x'.repeat(1_000_000) }))).toMatchObject({ status: 0 });
});

test('the environment is exactly what was given', async () => {
  const env = { ONE: 'a b', TWO: 'ü\n=' };
  const { stdout } = await run({ python, command: '/usr/bin/env', args: ['-0'], env });
  expect(stdout.split('\0').filter(Boolean).sort()).toEqual(['ONE=a b', 'TWO=ü\n=']);
});

test('arguments arrive as they are', async () => {
  const args = ['%s\\n', '$(id)', 'a b', "'", '', '--', '*'];
  const { stdout } = await run({ python, command: '/usr/bin/printf', args, env: {} });
  expect(stdout).toBe(`${args.slice(1).join('\n')}\n`);
});

test('what it makes is readable to every user, whatever the umask of the server', async () => {
  const before = process.umask(0o077);
  try {
    await run(shell(`echo > ${folder}/made; mkdir ${folder}/below`));
  } finally {
    process.umask(before);
  }
  expect(statSync(`${folder}/made`).mode & 0o777).toBe(0o644);
  expect(statSync(`${folder}/below`).mode & 0o777).toBe(0o755);
});

test('it runs in /, holds nothing but its streams, and a broken pipe ends it', async () => {
  const { stdout } = await run(shell('pwd; ls /proc/self/fd; (sh -c "kill -PIPE \\$\\$"; echo $?)'));
  // ls itself holds the fourth: the folder that it reads.
  expect(stdout.trim().split(/\s+/)).toEqual(['/', '0', '1', '2', '3', '141']);
});

test('the lines of stderr are told as they come, the unfinished last one too', async () => {
  const lines: string[] = [];
  await run(shell('printf "one\\ntw" >&2; printf "o\\nlast" >&2; echo no'), {
    onLine: (line) => lines.push(line),
  });
  expect(lines).toEqual(['one', 'two', 'last']);
});

test('aborted, it throws the reason and leaves no process', async () => {
  const controller = new AbortController();
  const { ended, processes } = await startStaying({ signal: controller.signal });
  expect(processes.length).toBe(3);
  const reason = new Error('no longer wanted');
  controller.abort(reason);
  expect(await ended).toBe(reason);
  await until(() => living(processes).length === 0, 'every process is gone');
});

test('aborted before the start, nothing starts', async () => {
  const marker = `${folder}/started`;
  const reason = new Error('too late');
  await expect(run(shell(`echo > ${marker}`), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(() => statSync(marker)).toThrow('ENOENT');
});

test('aborted while it starts, it does not go on', async () => {
  const controller = new AbortController();
  const ended = run(shell(STAYING), { signal: controller.signal });
  controller.abort(new Error('at once'));
  await expect(ended).rejects.toThrow('at once');
});

test('timed out, it says so and leaves no process', async () => {
  const { ended, processes } = await startStaying({ timeoutMs: 1500 });
  expect(await ended).toMatchObject({
    code: 'EXECUTION_TIMEOUT',
    message: '/bin/sh did not end within 1500 ms and was stopped.',
  });
  await until(() => living(processes).length === 0, 'every process is gone');
});

test('what it left behind is ended with it', async () => {
  const { stdout } = await run(shell('sleep 100003 >/dev/null 2>&1 & echo $!'));
  const left = () =>
    descendantsOf(1)
      .concat(descendantsOf(process.pid))
      .filter(({ pid }) => pid === Number(stdout));
  await until(() => left().length === 0, 'the process is gone');
});

test('a process that left its group cannot hold up the answer', async () => {
  const pid = `${folder}/pid`;
  const away = `setsid sh -c 'echo $$ > ${pid}.new; mv ${pid}.new ${pid}; exec sleep 100005' &`;
  try {
    const end = await run(shell(`${away} while ! test -e ${pid}; do sleep 0.01; done; echo done`));
    expect(end).toMatchObject({ status: 0, stdout: 'done\n' });
  } finally {
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
  }
});

test('a flood of output is cut, and is an error', async () => {
  await expect(run(shell('yes'))).rejects.toMatchObject({
    code: 'OUTPUT_LIMIT_EXCEEDED',
    message: 'sh printed more than 16 MB and was stopped.',
  });
});

test.each([
  ['a program that is not there', `${folder}/nothing`, 'No such file or directory'],
  ['a folder', folder, 'Permission denied'],
])('%s cannot be started, which is said', async (_, command, reason) => {
  await expect(run({ python, command, args: [], env: {} })).rejects.toMatchObject({
    code: 'TOOL_UNAVAILABLE',
    message: `${command} cannot be started: ${reason}.`,
    details: { command, reason },
  });
});

test('without its interpreter nothing can be started, which is said', async () => {
  const missing = `${folder}/python`;
  await expect(run(shell('true', { python: missing }))).rejects.toMatchObject({
    code: 'INTERPRETER_NOT_FOUND',
    details: { python: missing },
  });
});

test.skipIf(process.platform !== 'linux')('it dies with the server', () =>
  outliveServer(shell('exec sleep 100004'), 1),
);
