import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import type { RequestedLimits } from '../../src/contract/limits.js';
import { expectOk, publicInterpreter, sharedPungi, verdictOf } from './pungi.js';

const PUNGI_PYTHON = await publicInterpreter();

const holds = (mb: number) => `data = bytearray(${mb} << 20)\nlen(data)`;
const writes = (mb: number) => py`
  for part in range(4):
      with open(f"part{part}", "wb") as file:
          for _ in range(${mb} // 4):
              file.write(bytes(1 << 20))
`;
const threads = (number: number) => py`
  import threading
  done = threading.Event()
  all = [threading.Thread(target=done.wait) for _ in range(${number})]
  for each in all: each.start()
  # Long enough for the supervisor to look.
  import time; time.sleep(0.1)
  done.set()
`;

describe.each([
  ['namespace', 'auto'],
  ['namespace', 'off'],
  ['landlock', 'off'],
])('in the %s tier, cgroups %s', (PUNGI_TIER, CGROUPS) => {
  const pungi = sharedPungi({
    PUNGI_PYTHON,
    PUNGI_TIER,
    CGROUPS,
    MAX_MEMORY_MB: '128',
    MAX_DISK_MB: '16',
    MAX_PROCESSES: '16',
    MAX_REQUEST_MEMORY_MB: '2500',
    MAX_REQUEST_DISK_MB: '128',
    MAX_REQUEST_PROCESSES: '64',
  });
  const run = (code: string, limits: RequestedLimits = {}) => pungi.run({ code, limits });

  test.each([
    ['memory', holds(1600), { memoryMb: 2000 }, 'memory-exceeded'],
    ['disk', writes(80), { diskMb: 100 }, 'disk-exceeded'],
    ['processes', threads(40), { processes: 60 }, 'processes-exceeded'],
  ] as const)(
    'a request may have more %s, one that asks for none has the default',
    async (_, code, limits, kind) => {
      expectOk(await run(code, limits));
      const { verdict } = await run(code);
      expect(['python-error', kind]).toContain(verdict.kind);
      expectOk(await run('print(1)'));
    },
  );

  test('what was asked for holds, also below the ceiling', async () => {
    verdictOf(await run(holds(1600), { memoryMb: 300 }), 'memory-exceeded');
    verdictOf(await run(writes(80), { diskMb: 40 }), 'disk-exceeded');
    verdictOf(await run(threads(60), { processes: 30 }), 'processes-exceeded');
  });

  test('the ceiling holds, and a value above it is lowered with a note', async () => {
    const outcome = await run(writes(200), { diskMb: 4000 });
    verdictOf(outcome, 'disk-exceeded');
    expect(outcome.notes).toContain("diskMb was lowered from 4000 to 128, the server's MAX_REQUEST_DISK_MB.");
    expect((await run('1', { timeoutMs: 900_000 })).notes).toEqual([
      "timeoutMs was lowered from 900000 to 300000, the server's MAX_REQUEST_TIMEOUT_MS.",
    ]);
    expect((await run('1', { timeoutMs: 60_000 })).notes).toBeUndefined();
  });
});
