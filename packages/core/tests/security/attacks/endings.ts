import { type Attack, py } from '../attack.js';

/** Ending in every way a process can. */
export const ENDINGS: Attack[] = [
  { name: 'os._exit(0)', code: 'import os\nos._exit(0)\n', bare: true, expect: { verdict: 'ok' } },
  {
    name: 'os._exit(3)',
    code: 'import os\nos._exit(3)\n',
    bare: true,
    expect: { verdict: 'exited', details: { status: 3 } },
  },
  {
    name: 'sys.exit(3) and sys.exit with a huge number',
    code: 'import sys\nsys.exit(2 ** 100 + 3)\n',
    bare: true,
    expect: { verdict: 'exited' },
  },
  {
    name: 'segfault',
    code: 'import ctypes\nctypes.string_at(0)\n',
    bare: true,
    expect: { verdict: 'killed', details: { signal: 'SIGSEGV' } },
  },
  {
    name: 'stack overflow in C',
    code: py`
      import ctypes
      CALLBACK = ctypes.CFUNCTYPE(None)
      sys.setrecursionlimit(10 ** 9)
      @CALLBACK
      def again():
          again()
      again()
    `,
    expect: { verdict: ['killed', 'python-error', 'memory-exceeded', 'ok'] },
  },
  {
    name: 'os.abort',
    code: 'import os\nos.abort()\n',
    bare: true,
    expect: { verdict: 'killed', details: { signal: 'SIGABRT' } },
  },
  {
    name: 'kills itself',
    code: 'import os\nos.kill(os.getpid(), 9)\n',
    bare: true,
    expect: { verdict: 'killed', details: { signal: 'SIGKILL' } },
  },
  {
    name: 'ends by the signal of the CPU limit, without having used it',
    code: 'import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)\n',
    bare: true,
    expect: { verdict: 'killed', details: { signal: 'SIGXCPU' } },
  },
  {
    name: 'ends by a real-time signal',
    code: 'import os\nos.kill(os.getpid(), 40)\n',
    bare: true,
    expect: { verdict: 'killed' },
  },
  {
    name: 'kills the supervisor',
    code: py`
      for pid in {1, os.getppid()}:
          try:
              os.kill(pid, signal.SIGKILL)
              print("sent")
          except OSError:
              print("refused")
      os._exit(7)
    `,
    harmful: true,
    expect: { verdict: 'exited', details: { status: 7 }, stdout: /^(refused\n)+$/ },
  },
  {
    name: 'replaces itself by another program',
    code: py`
      print("before", flush=True)
      os.execv("/bin/sh", ["sh", "-c", "echo from sh; exit 5"])
    `,
    expect: { verdict: 'exited', details: { status: 5 }, stdout: 'before\nfrom sh\n' },
  },
  {
    name: 'poisons the interpreter for the next run',
    code: py`
      import builtins, gc, json
      builtins.print = lambda *values, **options: None
      json.dumps = json.loads = lambda *values, **options: "poisoned"
      sys.stdout = None
      for module in list(sys.modules.values()):
          for name, value in list(vars(module).items()) if hasattr(module, "__dict__") else []:
              if callable(value) and getattr(module, "__name__", "").startswith("pungi"):
                  setattr(module, name, None)
    `,
    // The row that follows every row is a run that prints: it must know nothing of this.
    expect: { verdict: ['ok', 'exited', 'python-error', 'internal'] },
  },
];
