import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { expectOk, printed, sharedPungi, verdictOf, withPungi } from './pungi.js';

const { path: python } = await findInterpreter();
const hasNumpy = canImport('numpy');
const preload = ['random', 'uuid', 'tempfile', 'secrets', ...(hasNumpy ? ['numpy'] : [])].join(',');
const pungi = sharedPungi({ PRELOAD_MODULES: preload, POOL_SIZE: '4' });

function canImport(module: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${module}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const OF_NUMPY = [
  ['numpy.random.rand', 'import numpy; print(numpy.random.rand())'],
  ['numpy.random.default_rng', 'import numpy; print(numpy.random.default_rng().random())'],
];

/** What ten runs, several at once, print. */
const tenTimes = (code: string) => Promise.all(Array.from({ length: 10 }, () => printed(pungi, { code })));

describe('random numbers differ from run to run', () => {
  test.each([
    ['random', 'import random; print(random.random())'],
    ['random.SystemRandom', 'import random; print(random.SystemRandom().random())'],
    ['uuid4', 'import uuid; print(uuid.uuid4())'],
    ['uuid1', 'import uuid; print(uuid.uuid1())'],
    ['secrets', 'import secrets; print(secrets.token_hex())'],
    ['os.urandom', 'import os; print(os.urandom(8).hex())'],
    ['names of temporary files', 'import tempfile; print(tempfile.mkdtemp())'],
    ...(hasNumpy ? OF_NUMPY : []),
  ])('%s', async (_, code) => {
    expect(new Set(await tenTimes(code)).size).toBe(10);
  });
});

describe('two runs at once', () => {
  test('do not see each other’s files', async () => {
    const write = py`
      import os, tempfile, threading
      for folder in (".", tempfile.gettempdir(), "/dev/shm"):
          open(os.path.join(folder, "of-the-first"), "w").write("secret")
      print("written")
      threading.Event().wait()
    `;
    const look = py`
      import os
      print([name for place in ("/work", "/tmp", "/dev/shm") for name in os.listdir(place) if "first" in name])
    `;
    const cancel = new AbortController();
    let isWritten = false;
    const first = pungi.run({ code: write }, { signal: cancel.signal, onLine: () => (isWritten = true) });
    await until(() => isWritten, 'the first run has written its files');
    const seen = await pungi.run({ code: look });
    cancel.abort();
    verdictOf(await first, 'cancelled');
    expect(seen.stdout.text).toBe('[]\n');
  });

  test('do not see each other’s processes', async () => {
    const cancel = new AbortController();
    let isGoing = false;
    const wait = 'import threading\nprint("going")\nthreading.Event().wait()';
    const first = pungi.run({ code: wait }, { signal: cancel.signal, onLine: () => (isGoing = true) });
    await until(() => isGoing, 'the first run goes on');
    const code = 'import os; print(len([name for name in os.listdir("/proc") if name.isdigit()]))';
    const seen = await pungi.run({ code });
    cancel.abort();
    await first;
    // Its own one, its supervisor and their template.
    expect(Number(seen.stdout.text)).toBeLessThanOrEqual(3);
  });

  test('a run that changes a preloaded module does not change it for the next', async () => {
    await printed(pungi, {
      code: 'import random; random.random = lambda: "patched"; print(random.random())',
    });
    expect(await tenTimes('import random; print(random.random() == "patched")')).toEqual(
      Array(10).fill('False\n'),
    );
  });

  test('a run that takes every pipe it can get is ended, and another one’s input arrives', async () => {
    const hoard = py`
      import os, threading
      def fill():
          kept = []
          try:
              while True: kept.append(os.pipe())
          except OSError:
              return kept
      for _ in range(40):
          read, write = os.pipe()
          if os.fork() == 0:
              kept = fill()
              os.write(write, b"1")
              threading.Event().wait()
          os.read(read, 1)
          os.close(read); os.close(write)
      print("all taken")
      threading.Event().wait()
    `;
    await withPungi({}, async (own) => {
      const code = 'import sys; print(len(sys.stdin.read()))';
      const [first, second] = await Promise.all([
        own.run({ code: hoard }),
        own.run({ code, stdin: 'x'.repeat(60_000), limits: { timeoutMs: 5000 } }),
      ]);
      expect(first.verdict.kind).toBe('memory-exceeded');
      expectOk(second);
      expect(second.stdout.text).toBe('60000\n');
    });
  });
});

test('a hundred runs at once all give their own answer', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, number) =>
      pungi.run(
        { code: 'print(context * 2)', context: number },
        { caller: { client: `client ${number % 7}` } },
      ),
    ),
  );
  for (const outcome of outcomes) expectOk(outcome);
  expect(outcomes.map(({ stdout }) => stdout.text)).toEqual(
    Array.from({ length: 100 }, (_, n) => `${n * 2}\n`),
  );
  expect(new Set(outcomes.map(({ runId }) => runId)).size).toBe(100);
  expect((await pungi.health()).queue).toMatchObject({ active: 0, waiting: 0 });
});
