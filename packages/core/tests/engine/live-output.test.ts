import { expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import type { OutputLine } from '../../../pungi/src/index.js';
import { expectOk, sharedPungi, verdictOf } from './pungi.js';

const pungi = sharedPungi();

test('lines are told in their order, by stream', async () => {
  const lines: OutputLine[] = [];
  const code = py`
    import sys
    for number in range(100):
        print(number)
        print(-number, file=sys.stderr)
    print("no newline", end="")
  `;
  expectOk(await pungi.run({ code }, { onLine: (line) => lines.push(line) }));
  const of = (stream: string) => lines.filter((line) => line.stream === stream).map(({ text }) => text);
  expect(of('stdout')).toEqual([...Array.from({ length: 100 }, (_, n) => `${n}`), 'no newline']);
  expect(of('stderr')).toEqual(Array.from({ length: 100 }, (_, n) => `${-n}`));
});

test('a line is told while the run that printed it still goes on', async () => {
  const lines: string[] = [];
  const cancel = new AbortController();
  let hasEnded = false;
  const running = pungi
    .run(
      {
        code: 'import threading\nprint("first")\nprint("sec", end="")\nprint("ond")\nthreading.Event().wait()',
      },
      { signal: cancel.signal, onLine: ({ text }) => lines.push(text) },
    )
    .finally(() => {
      hasEnded = true;
    });
  await until(() => lines.length === 2, 'both lines have come');
  expect(lines).toEqual(['first', 'second']);
  expect(hasEnded).toBe(false);
  cancel.abort();
  const outcome = await running;
  verdictOf(outcome, 'cancelled');
  expect(outcome.stdout.text).toBe('first\nsecond\n');
});

test('what a subprocess prints is told as well', async () => {
  const lines: OutputLine[] = [];
  const code = 'import subprocess\nsubprocess.run(["sh", "-c", "echo out; echo err >&2"])';
  expectOk(await pungi.run({ code }, { onLine: (line) => lines.push(line) }));
  expect(lines).toContainEqual({ stream: 'stdout', text: 'out' });
  expect(lines).toContainEqual({ stream: 'stderr', text: 'err' });
});

test('more lines than the reply keeps are told all the same', async () => {
  let told = 0;
  const outcome = await pungi.run(
    { code: 'for n in range(20_000):\n    print(n)', limits: { outputBytes: 1000 } },
    { onLine: () => (told += 1) },
  );
  expect(outcome.stdout.truncated).toBe(true);
  expect(told).toBe(20_000);
});

test('a listener that throws does not change the verdict', async () => {
  const outcome = await pungi.run(
    { code: 'print("one")\nprint("two")' },
    {
      onLine: () => {
        throw new Error('the listener is broken');
      },
    },
  );
  expectOk(outcome);
  expect(outcome.stdout.text).toBe('one\ntwo\n');
});

test('runs are answered while others print line breaks one by one', async () => {
  let ended = 0;
  let lines = 0;
  const cancel = new AbortController();
  const code = 'import os\nwhile True: os.write(1, b"\\n")';
  const printing = Array.from({ length: 3 }, () =>
    pungi.run({ code }, { signal: cancel.signal, onLine: () => (lines += 1) }).finally(() => (ended += 1)),
  );
  await until(() => lines > 10_000, 'much was printed');
  for (let turn = 0; turn < 5; turn += 1) expectOk(await pungi.run({ code: 'print(1)' }));
  expect(ended).toBe(0);
  cancel.abort();
  await Promise.all(printing);
});
