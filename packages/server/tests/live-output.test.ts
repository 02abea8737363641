import { expect, test, vi } from 'vitest';
import { execute, healthOf } from './calls.js';
import { behindEveryDoor } from './doors.js';

const FOREVER = 'import time\nprint("started", flush=True)\ntime.sleep(1000)';

interface Progress {
  progress: number;
  message?: string | undefined;
}

behindEveryDoor({}, (door) => {
  const executeWatched = (code: string, onprogress: (progress: Progress) => void, signal?: AbortSignal) =>
    door().client.callTool(
      { name: 'execute_python', arguments: { code } },
      { onprogress, ...(signal && { signal }) },
    );

  test('each line of output becomes a progress notification, in order', async () => {
    const seen: Progress[] = [];
    // The run ends a moment later: the clients of the SDK forget who listens when they read the result together with
    // the notifications before it.
    await executeWatched(
      'import sys, time\nfor i in range(3): print("line", i, flush=True)\nprint("err", file=sys.stderr)\ntime.sleep(0.5)',
      (p) => seen.push(p),
    );
    expect(seen.filter(({ message }) => message !== 'err').map(({ message }) => message)).toEqual([
      'line 0',
      'line 1',
      'line 2',
    ]);
    expect(seen.map(({ message }) => message)).toContain('err');
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
  });

  test('lines arrive while the code still runs', async () => {
    const cancel = new AbortController();
    const first = new Promise<string | undefined>((resolve) => {
      executeWatched(FOREVER, ({ message }) => resolve(message), cancel.signal).catch(() => {});
    });
    expect(await first).toBe('started');
    cancel.abort();
  });

  test('endless output does not flood the client', async () => {
    const seen: Progress[] = [];
    await executeWatched('for i in range(200_000): print("x" * 20)', (p) => seen.push(p));
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThan(2000);
    expect(Math.max(...seen.map(({ message }) => message?.length ?? 0))).toBeLessThanOrEqual(1001);
    const counts = seen.map(({ progress }) => progress);
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  });

  test('cancelling a call stops its processes and is answered', async () => {
    const cancel = new AbortController();
    const call = executeWatched(FOREVER, () => cancel.abort('enough'), cancel.signal);
    await expect(call).rejects.toThrow('enough');
    await vi.waitFor(
      async () => {
        const { metrics } = await healthOf(door().client);
        expect(metrics.activeExecutions).toBe(0);
        expect(metrics.verdicts['cancelled']).toBeGreaterThan(0);
      },
      { timeout: 10_000 },
    );
    expect((await execute(door().client, { code: '1 + 1' })).outcome.value?.repr).toBe('2');
  });
});
