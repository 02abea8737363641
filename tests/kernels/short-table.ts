import type { RequestedLimits } from '../../packages/core/src/contract/limits.js';
import { type Attack, bomb, py, refused, requestOf } from '../../packages/core/tests/security/attack.js';
import { HOST_FILES } from '../../packages/core/tests/security/attacks/host-files.js';
import { KERNEL } from '../../packages/core/tests/security/attacks/kernel.js';
import { NETWORK } from '../../packages/core/tests/security/attacks/network.js';
import type { Row } from '../../packages/core/tests/security/table-run.js';

/** An emulated processor is slow: time limits that are not the subject of a row are out of the way. */
const PATIENT = { timeoutMs: 200_000, cpuMs: 200_000 } satisfies RequestedLimits;

/** One row for each way a run can end. */
const VERDICTS: Attack[] = [
  { name: 'verdict ok', bare: true, code: 'print(6 * 7)', expect: { verdict: 'ok', stdout: '42\n' } },
  { name: 'verdict python-error', bare: true, code: '1 / 0', expect: { verdict: 'python-error' } },
  { name: 'verdict exited', bare: true, code: 'raise SystemExit(7)', expect: { verdict: 'exited' } },
  {
    name: 'verdict timed-out',
    bare: true,
    code: 'import time\ntime.sleep(600)',
    limits: { timeoutMs: 5000 },
    expect: { verdict: 'timed-out' },
  },
  {
    name: 'verdict cpu-exceeded',
    bare: true,
    code: 'while True: pass',
    limits: { cpuMs: 2000 },
    expect: { verdict: 'cpu-exceeded' },
  },
  bomb({
    name: 'verdict memory-exceeded',
    code: py`
      blocks = []
      while len(blocks) < 1000:
          blocks.append(b"x" * (1 << 20))
    `,
    limits: { memoryMb: 64 },
    expect: { verdict: 'memory-exceeded' },
  }),
  bomb({
    name: 'verdict processes-exceeded',
    code: py`
      for _ in range(200):
          try:
              if os.fork() == 0:
                  time.sleep(60)
                  os._exit(0)
          except OSError:
              time.sleep(0.1)
    `,
    limits: { processes: 8 },
    expect: { verdict: 'processes-exceeded' },
  }),
  bomb({
    name: 'verdict disk-exceeded',
    code: py`
      with open("big", "wb") as file:
          for _ in range(64):
              file.write(b"x" * (1 << 20))
      time.sleep(10)
    `,
    limits: { diskMb: 8 },
    expect: { verdict: 'disk-exceeded' },
  }),
  {
    name: 'verdict killed',
    bare: true,
    code: 'import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)',
    expect: { verdict: 'killed' },
  },
  {
    name: 'verdict cancelled',
    bare: true,
    code: 'import time\ntime.sleep(600)',
    cancelAfterMs: 3000,
    expect: { verdict: 'cancelled' },
  },
];

/** What ordinary code does must work on every kernel. */
const ORDINARY: Attack[] = [
  {
    name: 'threads, subprocesses, pools, files and databases work',
    bare: true,
    code: py`
      import concurrent.futures, multiprocessing, shutil, sqlite3, subprocess, sys, tempfile, threading
      def double(number): return 2 * number
      with concurrent.futures.ThreadPoolExecutor(4) as pool:
          assert list(pool.map(double, range(8))) == list(range(0, 16, 2))
      assert subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True, text=True).stdout == "5\n"
      reader, writer = multiprocessing.Pipe()
      process = multiprocessing.get_context("fork").Process(target=lambda: writer.send("from a child"))
      process.start()
      assert reader.recv() == "from a child"
      process.join()
      with tempfile.NamedTemporaryFile() as file:
          shutil.copy(file.name, "copy")
      database = sqlite3.connect("data.db")
      database.execute("create table numbers (n)")
      database.commit()
      print("fine")
    `,
    expect: { verdict: 'ok', stdout: 'fine\n' },
  },
];

/** The attack rows that need nothing of the host but files, addresses and its kernel. */
export const SHORT_TABLE: readonly Attack[] = [
  ...VERDICTS,
  ...ORDINARY,
  ...[...HOST_FILES, ...NETWORK, ...KERNEL].filter(
    (row) => !row.victim && !row.bystander && !row.request?.file,
  ),
  refused(
    'finds the file system of control groups nowhere',
    py`
      for path in ("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/session/cgroup.procs", "/sys/fs/cgroup/memory/tasks"):
          hide(path, lambda: open(path, "w"))
    `,
  ),
];

export const SHORT_ROWS: Row[] = SHORT_TABLE.map((attack) => ({
  name: attack.name,
  request: requestOf({ ...attack, limits: { ...PATIENT, ...attack.limits } }),
  victim: false,
  bystander: false,
  cancelAfterMs: attack.cancelAfterMs ?? null,
}));
