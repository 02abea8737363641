import { expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { expectOk, sharedPungi, startPungi } from './pungi.js';

const pungi = sharedPungi();

test('the CPU time of a busy loop is counted', async () => {
  const code = 'import time\nwhile time.process_time() < 0.2: pass';
  const outcome = await pungi.run({ code });
  expectOk(outcome);
  expect(outcome.usage.cpuMs).toBeGreaterThan(150);
  expect(outcome.usage.wallMs).toBeGreaterThan(150);
});

test('the CPU time of children is counted with it', async () => {
  const code = py`
    import os, time
    for _ in range(2):
        if os.fork() == 0:
            while time.process_time() < 0.15: pass
            os._exit(0)
    os.wait(); os.wait()
  `;
  const outcome = await pungi.run({ code });
  expectOk(outcome);
  expect(outcome.usage.cpuMs).toBeGreaterThan(250);
});

test('waiting costs wall time and hardly any CPU time', async () => {
  const { usage } = await pungi.run({ code: 'import threading\nthreading.Event().wait(0.3)' });
  expect(usage.wallMs).toBeGreaterThanOrEqual(290);
  expect(usage.cpuMs).toBeLessThan(usage.wallMs);
});

test('the peak memory of a large allocation is seen, though it was given back', async () => {
  const outcome = await pungi.run({ code: 'x = b"x" * (100 * 1024 * 1024)\ndel x' });
  expectOk(outcome);
  expect(outcome.usage.peakMemoryMb).toBeGreaterThanOrEqual(100);
  expect(outcome.usage.peakMemoryMb).toBeLessThan(200);
});

test('a small run is small, whatever ran before it', async () => {
  await pungi.run({ code: 'x = b"x" * (100 * 1024 * 1024)' });
  const { usage } = await pungi.run({ code: 'print(1)' });
  expect(usage.peakMemoryMb).toBeGreaterThan(1);
  expect(usage.peakMemoryMb).toBeLessThan(60);
});

test.each(['auto', 'off'])(
  'files that are mapped or were written are no memory, also where they are larger than its limit (cgroups %s)',
  async (CGROUPS) => {
    const own = startPungi({ CGROUPS, MAX_MEMORY_MB: '64', MAX_DISK_MB: '200' });
    const code = py`
      import mmap, os
      with open("large", "wb") as file:
          for _ in range(150):
              file.write(bytes(1 << 20))
      with open("large", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as view:
          sum(view[start] for start in range(0, len(view), 4096))
      os.remove("large")
    `;
    try {
      const outcome = await own.run({ code });
      expectOk(outcome);
      expect(outcome.usage.peakMemoryMb).toBeLessThanOrEqual(64);
    } finally {
      await own.close();
    }
  },
);

test('the memory of two children that live together is added', async () => {
  const code = py`
    import os, time
    ready_read, ready_write = os.pipe()
    hold_read, hold_write = os.pipe()
    for _ in range(2):
        if os.fork() == 0:
            os.close(hold_write)
            kept = b"x" * (60 * 1024 * 1024)
            os.write(ready_write, b"1")
            os.read(hold_read, 1)
            os._exit(0)
    ready = b""
    while len(ready) < 2: ready += os.read(ready_read, 2)
    time.sleep(0.2)  # the supervisor looks every ten milliseconds
    os.close(hold_write)
    os.wait(); os.wait()
  `;
  const outcome = await pungi.run({ code });
  expectOk(outcome);
  expect(outcome.usage.peakMemoryMb).toBeGreaterThanOrEqual(120);
  expect(outcome.usage.peakMemoryMb).toBeLessThan(200);
});

test('time in the queue is told apart from time running', async () => {
  const own = startPungi({ MAX_CONCURRENT_EXECUTIONS: '1' });
  try {
    await own.ready();
    const first = own.run({ code: 'import threading\nthreading.Event().wait(0.3)' });
    await until(async () => (await own.health()).queue.active === 1, 'the first run goes on');
    const second = await own.run({ code: 'print(1)' });
    expect(second.usage.waitMs).toBeGreaterThan(second.usage.wallMs);
    expectOk(await first);
  } finally {
    await own.close();
  }
});

test('the figures of health come from real runs', async () => {
  const own = startPungi();
  try {
    expect((await own.health()).metrics).toMatchObject({ totalExecutions: 0, successRate: 100 });
    await own.run({ code: 'print(1)' });
    await own.run({ code: '1/0' });
    await own.run({ code: 'import sys\nsys.exit(2)' });
    await own.run({} as never);
    const { metrics, status, pythonVersion, isolation, problem } = await own.health();
    expect(metrics).toMatchObject({
      totalExecutions: 3,
      totalErrors: 2,
      verdicts: { ok: 1, 'python-error': 1, exited: 1, invalid: 1 },
      activeExecutions: 0,
      queuedExecutions: 0,
    });
    expect(metrics.successRate).toBeCloseTo(33.33, 1);
    expect(metrics.executionTimeMs.p99).toBeGreaterThanOrEqual(metrics.executionTimeMs.p50);
    expect(metrics.peakMemoryUsageMb).toBeGreaterThan(1);
    const { interpreter, tier } = await own.state();
    expect({ status, pythonVersion, tier: isolation.tier, problem }).toEqual({
      status: 'healthy',
      pythonVersion: `Python ${interpreter.version}`,
      tier,
      problem: null,
    });
  } finally {
    await own.close();
  }
});
