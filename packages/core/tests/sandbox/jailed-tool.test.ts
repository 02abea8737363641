import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { ToolCommand } from '../../src/sandbox/tool.js';
import { living, outliveServer, run, shell, sleepersBelow, temporaryFolder } from './shell-tool.js';

const folder = temporaryFolder();

describe.skipIf(process.platform !== 'linux')('in the jail of builds', () => {
  const jailed = (script: string, more: Partial<ToolCommand> = {}) =>
    shell(script, { jail: { readable: [], writable: [folder] }, ...more });

  test('gives status, output and input as outside', async () => {
    const end = await run(jailed('cat; echo err >&2; exit 3', { stdin: 'in' }));
    expect(end).toEqual({ status: 3, signal: null, stdout: 'in', stderr: 'err\n' });
  });

  test('a signal that ends it becomes a status, as in a shell', async () => {
    expect(await run(jailed('kill -SEGV $$'))).toMatchObject({ status: 139, signal: null });
  });

  test('a program that is not there is said', async () => {
    const command = `${folder}/nothing`;
    await expect(run(jailed('', { command }))).rejects.toMatchObject({
      code: 'TOOL_UNAVAILABLE',
      message: `${command} cannot be started: No such file or directory.`,
    });
  });

  test('it is bounded, and the first to go when memory is short', async () => {
    const { stdout } = await run(
      jailed('ulimit -c; ulimit -f; ulimit -p; ulimit -d; cat /proc/self/oom_score_adj'),
    );
    const [core, ...others] = stdout.trim().split('\n');
    expect(core).toBe('0');
    expect(others.map(Number).every((value) => value > 0)).toBe(true);
    expect(others.at(-1)).toBe('1000');
  });

  test('aborted, it leaves no process, not even one in a session of its own', async () => {
    const controller = new AbortController();
    const script = 'setsid sleep 100006 & sleep 100007 & wait';
    const ended = run(jailed(script), { signal: controller.signal }).catch((error) => error);
    const processes = await sleepersBelow(process.pid, 2);
    controller.abort('enough');
    expect(await ended).toBe('enough');
    await until(() => living(processes).length === 0, 'every process is gone');
  });

  test('it dies with the server', () => outliveServer(jailed('setsid sleep 100008 & exec sleep 100009'), 2));

  test.each([
    ['a root that would show everything', { readable: ['/'], writable: [] }, 'would make / visible'],
    ['a folder that is not there', { readable: [], writable: ['/nowhere'] }, '/nowhere is not a folder'],
  ])('%s is refused', async (_, jail, reason) => {
    await expect(run(shell('true', { jail }))).rejects.toMatchObject({
      code: 'TOOL_UNAVAILABLE',
      message: expect.stringMatching(/^Source distributions are built in a sandbox of kernel namespaces/),
      details: { reason: expect.stringContaining(reason) },
    });
  });
});
