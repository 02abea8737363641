import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { expectOk, printed, publicInterpreter, SANDBOXES, sharedPungi } from '../engine/pungi.js';

const PUNGI_PYTHON = await publicInterpreter();

/** Never ends, and counts what was taken of it. */
function endless(text: string) {
  const taken = { pieces: 0 };
  async function* stdinStream() {
    for (;;) {
      taken.pieces += 1;
      yield Buffer.from(text);
      await setImmediate();
    }
  }
  return { taken, local: { stdinStream: stdinStream() } };
}

async function* these(...pieces: (Buffer | string)[]) {
  yield* pieces;
}

describe.each([...SANDBOXES, 'process'])(
  'standard input while a run goes on, in the %s tier',
  (PUNGI_TIER) => {
    const pungi = sharedPungi({ PUNGI_TIER, PUNGI_PYTHON, ALLOW_UNSANDBOXED: 'true' });

    test('is what the stream has, to the byte, and ends with it', async () => {
      const noise = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 7919) % 251));
      const code = 'import sys; data = sys.stdin.buffer.read(); [len(data), sum(data)]';
      const local = {
        stdinStream: these(noise.subarray(0, 1), '', noise.subarray(1, 1_500_000), noise.subarray(1_500_000)),
      };
      const outcome = await pungi.run({ code }, { local });
      expectOk(outcome);
      expect(outcome.value?.json).toEqual([noise.length, noise.reduce((sum, one) => sum + one, 0)]);
    });
    test('is a conversation: each line is read when it is there, and the next one asked for', async () => {
      const heard: string[] = [];
      let hear = () => {};
      async function* stdinStream() {
        for (const line of ['one', 'two', 'three']) {
          yield `${line}\n`;
          // The script has answered before the next line is written.
          while (!heard.includes(`got ${line}`)) await new Promise<void>((heardMore) => (hear = heardMore));
        }
      }
      const onLine = ({ text }: { text: string }) => {
        heard.push(text);
        hear();
      };
      const code = 'import sys\nfor line in sys.stdin: print("got", line.strip(), flush=True)';
      expectOk(await pungi.run({ code }, { local: { stdinStream: stdinStream() }, onLine }));
      expect(heard).toEqual(['got one', 'got two', 'got three']);
    });
    test('need not end, and is not read further than a run reads', async () => {
      const { taken, local } = endless('y\n'.repeat(32 * 1024));
      const outcome = await pungi.run({ code: 'print(input()); sum(range(10_000_000)); None' }, { local });
      expectOk(outcome);
      expect(outcome.stdout.text).toBe('y\n');
      // The pipe, and a piece or two on the way.
      expect(taken.pieces).toBeLessThan(12);
    });
    test('of one run never reaches another', async () => {
      for (let round = 0; round < 3; round += 1) {
        const { local } = endless('SECRET\n'.repeat(20_000));
        expectOk(await pungi.run({ code: 'input()' }, { local }));
        const code = 'import sys, os; print(repr(sys.stdin.read()), os.path.exists("/proc/self/fd/3"))';
        expect(await printed(pungi, { code })).toBe("'' False\n");
        const outcome = await pungi.run({ code }, { local: { stdinStream: these('own') } });
        expect(outcome.stdout.text).toBe("'own' False\n");
      }
    });
    test.each([
      ['closes it', 'import os; os.close(0); print("on")'],
      [
        'leaves it to a child',
        'import subprocess; print(subprocess.run(["head", "-c2"], capture_output=True).stdout)',
      ],
      [
        'writes to it',
        'import os\nfor _ in range(9):\n    try: os.write(os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK), b"x" * 99999)\n    except OSError: pass\nprint("on")',
      ],
    ])('a run that %s ends as usual', async (_, code) => {
      const { local } = endless('y\n'.repeat(9999));
      const outcome = await pungi.run({ code }, { local });
      expectOk(outcome);
      expect(await printed(pungi, { code: 'print("next")' })).toBe('next\n');
    });
    test('does not keep a run from its limits, nor from being cancelled', async () => {
      const code = 'import time\nprint("sleeping", flush=True)\ntime.sleep(600)';
      const limits = { timeoutMs: 300 };
      const late = await pungi.run({ code, limits }, { local: endless('y'.repeat(99_999)).local });
      expect(late.verdict.kind).toBe('timed-out');
      const cancel = new AbortController();
      const stopped = await pungi.run(
        { code },
        { local: endless('y'.repeat(99_999)).local, signal: cancel.signal, onLine: () => cancel.abort() },
      );
      expect(stopped.verdict.kind).toBe('cancelled');
    });
    test('a stream that fails has ended', async () => {
      async function* stdinStream() {
        yield 'begun';
        throw new Error('broken');
      }
      const outcome = await pungi.run(
        { code: 'print(open(0).read())' },
        { local: { stdinStream: stdinStream() } },
      );
      expect(outcome.stdout.text).toBe('begun\n');
    });
    test.each([
      [{ session: 'new' }, 'a session reads no stream'],
      [{ stdin: 'twice' }, 'standard input is given twice'],
    ])('with %j is refused', async (more, words) => {
      const { verdict } = await pungi.run({ code: '1', ...more }, { local: { stdinStream: these('x') } });
      expect(verdict).toMatchObject({ kind: 'invalid', message: expect.stringContaining(words) });
    });
  },
);

test('in the spawn tier it is read to its end first', async () => {
  const pungi = sharedPungi({ PUNGI_TIER: 'spawn', PUNGI_PYTHON, ALLOW_UNSANDBOXED: 'true' });
  const local = { stdinStream: these(Buffer.from([0xff, 0x00]), 'end') };
  const outcome = await pungi.run({ code: 'import sys; print(sys.stdin.buffer.read())' }, { local });
  expectOk(outcome);
  expect(outcome.stdout.text).toBe("b'\\xff\\x00end'\n");
});
