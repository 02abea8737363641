import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { Outcome } from '../../../pungi/src/index.js';
import { expectOk, type Settings, sharedPungi, startPungi as startPlain, verdictOf } from './pungi.js';

const WAIT = 'import threading\nthreading.Event().wait()\n';

/** Every verdict of a run, in the backend that the settings choose. `hasForkServer`: and with it a sandbox. */
export function testVerdicts(settings: Settings, { hasForkServer }: { hasForkServer: boolean }): void {
  const startPungi = (more: Settings) => startPlain({ ...settings, ...more });
  const pungi = sharedPungi({
    ...settings,
    MAX_DISK_MB: '16',
    MAX_MEMORY_MB: '256',
    EXECUTION_TIMEOUT_MS: '40000',
  });

  describe('the end of a script', () => {
    test('every outcome has the shape that is promised', async () => {
      for (const code of ['1', '1/0', 'import sys; sys.exit(3)', 'import os; os.kill(os.getpid(), 9)']) {
        const outcome = await pungi.run({ code });
        expect(Outcome.parse(outcome)).toEqual(outcome);
      }
    });

    test.each([
      ['sys.exit()', 0],
      ['sys.exit(0)', 0],
      ['sys.exit(None)', 0],
      ['sys.exit(False)', 0],
      ['raise SystemExit', 0],
    ])('%s is ok', async (code) => {
      expectOk(await pungi.run({ code: `import sys\n${code}` }));
    });

    test.each([
      ['sys.exit(3)', 3],
      ['sys.exit(True)', 1],
      ['sys.exit(-1)', 255],
      ['sys.exit(256 + 7)', 7],
      ['os._exit(9)', 9],
      ['exit(4)', 4],
    ])('%s is an exit with status %i', async (code, status) => {
      const verdict = verdictOf(await pungi.run({ code: `import os, sys\n${code}` }), 'exited');
      expect(verdict).toMatchObject({ code: 'NONZERO_EXIT', status });
      expect(verdict.message).toContain(`${status}`);
    });

    test('sys.exit("text") says it on stderr and is status 1', async () => {
      const outcome = await pungi.run({ code: 'import sys\nsys.exit("no input file")' });
      expect(verdictOf(outcome, 'exited').status).toBe(1);
      expect(outcome.stderr.text).toBe('no input file\n');
    });

    test('sys.exit with something that has no text is status 1 all the same', async () => {
      const code = 'class Odd:\n    def __str__(self): raise ValueError\nimport sys\nsys.exit(Odd())';
      expect(verdictOf(await pungi.run({ code }), 'exited').status).toBe(1);
    });

    test('sys.exit in a thread does not end the script', async () => {
      const code = py`
      import sys, threading
      thread = threading.Thread(target=sys.exit, args=(5,))
      thread.start(); thread.join()
      print("on")
    `;
      const outcome = await pungi.run({ code });
      expectOk(outcome);
      expect(outcome.stdout.text).toBe('on\n');
    });

    test('a segmentation fault is named', async () => {
      const outcome = await pungi.run({ code: 'print("before")\nimport ctypes\nctypes.string_at(0)' });
      const { code, signal, message } = verdictOf(outcome, 'killed');
      expect([code, signal]).toEqual(['KILLED_BY_SIGNAL', 'SIGSEGV']);
      expect(message).toContain('segmentation fault');
      expect(outcome.stdout.text).toBe('before\n');
    });

    test.each(['SIGABRT', 'SIGTERM', 'SIGKILL'])('%s is named', async (name) => {
      const outcome = await pungi.run({ code: `import os, signal\nos.kill(os.getpid(), signal.${name})` });
      expect(verdictOf(outcome, 'killed').signal).toBe(name);
    });
  });

  describe('a limit', () => {
    test('of wall time', async () => {
      const outcome = await pungi.run({ code: `print("going")\n${WAIT}`, limits: { timeoutMs: 300 } });
      expect(verdictOf(outcome, 'timed-out')).toMatchObject({ code: 'EXECUTION_TIMEOUT', limitMs: 300 });
      expect(outcome.stdout.text).toBe('going\n');
      expect(outcome.usage.wallMs).toBeGreaterThanOrEqual(300);
    });

    test('of wall time, whatever the script does about signals', async () => {
      const code = py`
      import signal
      for number in range(1, 32):
          try: signal.signal(number, signal.SIG_IGN)
          except (OSError, ValueError): pass
      while True:
          try: signal.pause()
          except BaseException: pass
    `;
      verdictOf(await pungi.run({ code, limits: { timeoutMs: 300 } }), 'timed-out');
    });

    test('of CPU time', async () => {
      const outcome = await pungi.run({ code: 'while True: pass', limits: { cpuMs: 200 } });
      expect(verdictOf(outcome, 'cpu-exceeded')).toMatchObject({ code: 'CPU_LIMIT_EXCEEDED', limitMs: 200 });
      expect(outcome.usage.cpuMs).toBeGreaterThan(190);
    });

    test('of CPU time, spent by children together', async () => {
      const code = py`
      import os
      for _ in range(3):
          if os.fork() == 0:
              while True: pass
      os.wait()
    `;
      const outcome = await pungi.run({ code, limits: { cpuMs: 300 } });
      expect(verdictOf(outcome, 'cpu-exceeded').limitMs).toBe(300);
    });

    test('of memory, by one process bit by bit', async () => {
      const code = `kept = []\nwhile True:\n    kept.append(b"x" * 1024 * 1024)`;
      const outcome = await pungi.run({ code, limits: { memoryMb: 100 } });
      const verdict = verdictOf(outcome, 'memory-exceeded');
      expect(verdict).toMatchObject({ code: 'MEMORY_LIMIT_EXCEEDED', limitMb: 100 });
      expect(verdict.message).toContain('100 MB');
      expect(outcome.usage.peakMemoryMb).toBeGreaterThan(90);
    });

    test('of memory, by one absurd request', async () => {
      const outcome = await pungi.run({ code: 'print("before")\nbytearray(1 << 40)' });
      const verdict = verdictOf(outcome, 'memory-exceeded');
      expect(verdict.exception).toMatchObject({ type: 'MemoryError', line: 2 });
      expect(outcome.stdout.text).toBe('before\n');
    });

    test('of memory, by several children that each stay below it', async () => {
      const code = py`
      import os, time
      for _ in range(4):
          if os.fork() == 0:
              kept = b"x" * (40 * 1024 * 1024)
              while True: time.sleep(1)
      os.wait()
    `;
      const outcome = await pungi.run({ code, limits: { memoryMb: 100 } });
      expect(verdictOf(outcome, 'memory-exceeded').limitMb).toBe(100);
    });

    test('of memory is not reached by pages that children share', async () => {
      const code = py`
      import os
      kept = b"x" * (60 * 1024 * 1024)
      children = []
      for _ in range(4):
          read, write = os.pipe()
          if (pid := os.fork()) == 0:
              os.close(write)
              os.read(read, 1)
              os._exit(0)
          os.close(read)
          children.append((pid, write))
      print("all share it")
      import time; time.sleep(0.1)  # the limits are looked at meanwhile
      for pid, write in children: os.close(write)
      for pid, write in children: os.waitpid(pid, 0)
    `;
      expectOk(await pungi.run({ code, limits: { memoryMb: 128 } }));
    });

    test('of processes', async () => {
      const code = py`
      import os, time
      for _ in range(12):
          if os.fork() == 0:
              while True: time.sleep(1)
      while True: time.sleep(1)
    `;
      const outcome = await pungi.run({ code, limits: { processes: 10 } });
      expect(verdictOf(outcome, 'processes-exceeded')).toMatchObject({
        code: 'PROCESS_LIMIT_EXCEEDED',
        limit: 10,
      });
    });

    test('of processes counts threads too', async () => {
      const code = py`
      import threading
      for _ in range(12): threading.Thread(target=threading.Event().wait, daemon=True).start()
      threading.Event().wait()
    `;
      expect(
        verdictOf(await pungi.run({ code, limits: { processes: 10 } }), 'processes-exceeded').limit,
      ).toBe(10);
    });

    test('of processes lets as many as it says', async () => {
      const code = py`
      import subprocess
      children = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(8)]
      for child in children: child.communicate()
    `;
      expectOk(await pungi.run({ code, limits: { processes: 10 } }));
    });

    test('of open files is an error of the script', async () => {
      const code = 'kept = [open("/dev/null") for _ in range(40)]';
      const { exception } = verdictOf(await pungi.run({ code, limits: { openFiles: 32 } }), 'python-error');
      expect(exception).toMatchObject({
        type: 'OSError',
        message: expect.stringContaining('Too many open files'),
      });
    });

    test('of disk, by one file', async () => {
      const code = 'with open("big", "wb") as file:\n    for _ in range(64): file.write(b"x" * 1024 * 1024)';
      const outcome = await pungi.run({ code });
      expect(verdictOf(outcome, 'disk-exceeded')).toMatchObject({ code: 'DISK_LIMIT_EXCEEDED', limitMb: 16 });
    });

    test('of disk, by many files in several places', async () => {
      const code = py`
      import tempfile, os
      os.mkdir("sub")
      for number in range(64):
          folder = ".", tempfile.gettempdir(), ${hasForkServer ? '"/dev/shm"' : '"sub"'}
          with open(os.path.join(folder[number % 3], str(number)), "wb") as file:
              file.write(b"x" * 1024 * 1024)
    `;
      const verdict = verdictOf(await pungi.run({ code }), 'disk-exceeded');
      expect(verdict.exception?.type ?? 'OSError').toBe('OSError');
    });

    test('of disk, by a script that goes on regardless', async () => {
      const code = py`
      for number in range(40):
          try:
              with open(str(number), "wb") as file: file.write(b"x" * 1024 * 1024)
          except OSError:
              pass
      import threading
      threading.Event().wait()
    `;
      verdictOf(await pungi.run({ code }), 'disk-exceeded');
    });

    test('of disk that a request tightened, by several files', async () => {
      const code = py`
      for number in range(4):
          with open(str(number), "wb") as file: file.write(b"x" * 900 * 1024)
      import threading
      threading.Event().wait()
    `;
      expect(verdictOf(await pungi.run({ code, limits: { diskMb: 2 } }), 'disk-exceeded').limitMb).toBe(2);
    });

    test('of the number of files', async () => {
      const code = 'for number in range(100_000):\n    open(str(number), "w").close()';
      verdictOf(await pungi.run({ code }), 'disk-exceeded');
    });

    test('of output keeps the head and the tail around a marker', async () => {
      const code = 'print("HEAD" + "x" * 10_000 + "TAIL", end="")';
      const { verdict, stdout } = await pungi.run({ code, limits: { outputBytes: 1000 } });
      expect(verdict.kind).toBe('ok');
      expect(stdout).toMatchObject({ bytes: 10_008, truncated: true });
      expect(stdout.text).toMatch(/^HEADx{496}\n… 9008 bytes left out …\nx{496}TAIL$/);
    });

    test.each([1, 2, 3])('of %i bytes of output still lets a run end well', async (outputBytes) => {
      const outcome = await pungi.run({ code: 'print("12345")\nprint("67890")', limits: { outputBytes } });
      expectOk(outcome);
      expect(outcome.stdout).toMatchObject({ bytes: 12, truncated: true });
    });

    test('of output holds for stderr as well', async () => {
      const code = 'import sys\nsys.stderr.write("y" * 5000)';
      const { stderr } = await pungi.run({ code, limits: { outputBytes: 1000 } });
      expect(stderr).toMatchObject({ bytes: 5000, truncated: true });
    });

    test('of endless output ends the run', async () => {
      const code = 'while True: print("x" * 1000)';
      const outcome = await pungi.run({ code, limits: { outputHardBytes: 100_000, outputBytes: 10_000 } });
      expect(verdictOf(outcome, 'output-exceeded')).toMatchObject({
        code: 'OUTPUT_LIMIT_EXCEEDED',
        limitBytes: 100_000,
      });
      expect(outcome.stdout.truncated).toBe(true);
      expect(outcome.stdout.text.length).toBeLessThan(11_000);
    });

    test('of endless output counts both streams together', async () => {
      const code = 'import sys\nwhile True:\n    print("x" * 99)\n    print("y" * 99, file=sys.stderr)';
      const outcome = await pungi.run({ code, limits: { outputHardBytes: 10_000 } });
      verdictOf(outcome, 'output-exceeded');
      expect(outcome.stdout.bytes + outcome.stderr.bytes).toBeLessThanOrEqual(10_000);
    });

    test("asked for above the server's own ceiling is the ceiling", async () => {
      const own = startPungi({
        EXECUTION_TIMEOUT_MS: '100',
        MAX_REQUEST_TIMEOUT_MS: '300',
        MAX_MEMORY_MB: '64',
        MAX_REQUEST_MEMORY_MB: '96',
      });
      try {
        const slow = await own.run({ code: WAIT, limits: { timeoutMs: 600_000 } });
        expect(verdictOf(slow, 'timed-out').limitMs).toBe(300);
        const large = await own.run({ code: 'bytearray(1 << 40)', limits: { memoryMb: 100_000 } });
        expect(verdictOf(large, 'memory-exceeded').limitMb).toBe(96);
      } finally {
        await own.close();
      }
    });

    test('as high as the configuration allows does not end a run early', async () => {
      const most = `${2 ** 31 - 1}`;
      const own = startPungi({
        EXECUTION_TIMEOUT_MS: most,
        MAX_CPU_MS: most,
        IDLE_TIMEOUT_MS: most,
        MAX_MEMORY_MB: most,
      });
      try {
        const outcome = await own.run({ code: 'import time\ntime.sleep(0.3)\nprint("done")' });
        expectOk(outcome);
        expect((await own.health()).pool.forkServers).toBe(hasForkServer ? 1 : 0);
      } finally {
        await own.close();
      }
    });
  });

  describe('a server that is full', () => {
    test('says so at once, and how many wait', async () => {
      const own = startPungi({ MAX_CONCURRENT_EXECUTIONS: '1', MAX_QUEUED_EXECUTIONS: '1' });
      try {
        const cancel = new AbortController();
        const first = own.run({ code: WAIT }, { signal: cancel.signal });
        await until(async () => (await own.health()).queue.active === 1, 'the first run goes on');
        const second = own.run({ code: 'print("second")' });
        const refused = await own.run({ code: 'print("third")' });
        expect(verdictOf(refused, 'busy')).toMatchObject({ code: 'SERVER_BUSY', queued: 1 });
        expect(refused.isolation.tier).toBeNull();
        cancel.abort();
        verdictOf(await first, 'cancelled');
        expect((await second).stdout.text).toBe('second\n');
      } finally {
        await own.close();
      }
    });
  });

  describe('an exception that the script raises itself is its own word, not a limit', () => {
    test.each([
      ['MemoryError', 'raise MemoryError("mine")'],
      ['MemoryError', 'def f(): raise MemoryError\ntry:\n    f()\nexcept MemoryError as e:\n    raise e'],
      ['Own', 'class Own(MemoryError): pass\nraise Own()'],
      ['MemoryError', 'raise MemoryError from ValueError()'],
      ['OSError', 'import errno\nraise OSError(errno.ENOSPC, "mine")'],
      ['OSError', 'import errno\nraise OSError(errno.EDQUOT, "mine", "file")'],
    ])('%s', async (type, code) => {
      const { exception } = verdictOf(await pungi.run({ code }), 'python-error');
      expect(exception.type).toBe(type);
    });

    test.each([
      ['bytearray(10**12)'],
      ['"x" * 10**15'],
      ['[0] * 10**12'],
      ['def f(): return bytearray(10**12)\ntry:\n    f()\nexcept MemoryError as e:\n    raise e'],
      ['x = [bytearray(1 << 20) for _ in range(230)]\nraise MemoryError("as far as it goes")'],
    ])('%s needed more memory than there is', async (code) => {
      verdictOf(await pungi.run({ code }), 'memory-exceeded');
    });

    test('a full disk is one, wherever it shows', async () => {
      const code = 'with open("big", "wb") as f:\n    f.write(b"x" * (40 << 20))';
      verdictOf(await pungi.run({ code }), 'disk-exceeded');
    });
  });

  test('a byte order mark at the start of code is no part of it, as in a file', async () => {
    const outcome = await pungi.run({ code: '\ufeff"""doc"""\nprint(__doc__, __file__[-7:])' });
    expectOk(outcome);
    expect(outcome.stdout.text).toBe('doc main.py\n');
    const { exception } = verdictOf(await pungi.run({ code: 'x = 1\n\ufeffy = 2' }), 'python-error');
    expect(exception.type).toBe('SyntaxError');
  });

  test.each(['from . import x', 'from .mod import y', 'from ..up.mod import z'])(
    '%s is an ImportError that says what to write',
    async (code) => {
      const { exception } = verdictOf(await pungi.run({ code }), 'python-error');
      expect(exception).toMatchObject({
        type: 'ImportError',
        line: 1,
        missingModule: null,
        missingPackage: null,
      });
      expect(exception.hint).toContain('without the dots');
    },
  );
}
