import type { RunRequest } from '../../../pungi/src/index.js';

/** One call of a session, and what must come of it. */
export interface Call extends Partial<RunRequest> {
  code: string;
  prints?: string | RegExp;
  stderr?: string | RegExp;
  /** The value of the last expression, as JSON. */
  is?: unknown;
  /** The class of the exception that ends it. */
  fails?: string;
  exits?: number;
  timesOut?: true;
  /** The traceback of the exception. */
  traceback?: RegExp;
  /** New and changed files. */
  leaves?: string[];
}

export type Snippet = readonly [name: string, ...calls: (string | Call)[]];

const POINT = 'from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int = 0';
const SQUARE = 'def square(x):\n    return x * x';

/** State that a call leaves to the next ones, as agents and people in notebooks use it. */
export const STATE: Snippet[] = [
  ['variables', 'a, b = 1, [2]', 'b.append(a)', { code: 'b', is: [2, 1] }],
  ['functions', SQUARE, 'n = 7', { code: 'square(n)', is: 49 }],
  [
    'a function sees what later calls define',
    'def total(): return sum(items)',
    { code: 'total()', fails: 'NameError' },
    'items = [1, 2]',
    { code: 'total()', is: 3 },
  ],
  [
    'a class and its instance',
    POINT,
    'p = Point(1)',
    { code: 'p.y = 5\nprint(p)', prints: 'Point(x=1, y=5)\n' },
  ],
  [
    'pickled classes of an earlier call',
    POINT,
    'import pickle\ndata = pickle.dumps([Point(3), Point])',
    { code: 'one, kind = pickle.loads(data)\nprint(one, kind is Point)', prints: 'Point(x=3, y=0) True\n' },
  ],
  [
    'a class that is defined again',
    'class A: v = 1\na = A()',
    'class A: v = 2',
    { code: '[a.v, A().v, isinstance(a, A)]', is: [1, 2, false] },
  ],
  [
    'a subclass and an abstract base',
    'from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...',
    'class Square(Shape):\n    def area(self): return 4',
    { code: 'Shape()', fails: 'TypeError' },
    { code: 'Square().area()', is: 4 },
  ],
  [
    'an enumeration and a named tuple',
    'import enum, collections\nclass Color(enum.Enum): RED = 1\nPair = collections.namedtuple("Pair", "a b")',
    { code: '[Color.RED.name, Pair(1, 2).b, Color(1) is Color.RED]', is: ['RED', 2, true] },
  ],
  [
    'a decorator with state',
    'import functools\ncounts = {}\ndef counted(f):\n    @functools.wraps(f)\n    def inner(*a):\n        counts[f.__name__] = counts.get(f.__name__, 0) + 1\n        return f(*a)\n    return inner',
    `@counted\n${SQUARE}`,
    'square(1); square(2)',
    { code: 'counts', is: { square: 2 } },
  ],
  [
    'a cache',
    'import functools\n@functools.lru_cache\ndef slow(n):\n    print("computed", n)\n    return n',
    { code: 'slow(1)', prints: 'computed 1\n' },
    { code: 'slow(1)', prints: '' },
  ],
  [
    'a generator',
    'def numbers():\n    yield from range(10)\ng = numbers()\nnext(g)',
    { code: '[next(g), next(g)]', is: [1, 2] },
    { code: 'list(g)', is: [3, 4, 5, 6, 7, 8, 9] },
  ],
  [
    'a closure and nonlocal',
    'def counter():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n        return n\n    return up\nup = counter()',
    'up()',
    { code: 'up()', is: 2 },
  ],
  [
    'imports and aliases',
    'import math as m, json\nfrom collections import *',
    { code: 'print(m.pi > 3, json.dumps(Counter("aa")))', prints: 'True {"a": 2}\n' },
  ],
  [
    'a module that a call writes and changes',
    'open("helper.py", "w").write("value = 1")\nimport helper',
    'import os, time\nopen("helper.py", "w").write("value = 200")',
    { code: 'helper.value', is: 1 },
    { code: 'import importlib\nimportlib.reload(helper).value', is: 200 },
  ],
  [
    'the last value as _',
    { code: '6 * 7', is: 42 },
    { code: 'print(_)', prints: '42\n' },
    { code: '_ + 1', is: 43 },
    '_;',
    { code: '_', is: 43 },
    { code: 'for _ in range(3): pass\n_', is: 2 },
  ],
  [
    'settings of notebooks, which have no effect',
    {
      code: 'import sys\n%matplotlib inline\nif True:\n    %config InlineBackend.figure_format = "retina"\ntext = """\n%matplotlib\n"""\n1 / 0',
      fails: 'ZeroDivisionError',
      traceback: /line 8, in <module>/,
    },
    { code: 'text', is: '\n%matplotlib\n' },
    { code: '%matplotlib inline\nx = = 1', fails: 'SyntaxError' },
  ],
  ['del', 'x = 1', 'del x', { code: 'x', fails: 'NameError' }, { code: '"x" in globals()', is: false }],
  [
    '__main__',
    { code: 'print(__name__)\nif __name__ == "__main__": x = 1', prints: '__main__\n' },
    { code: 'import __main__\n__main__.x', is: 1 },
  ],
  ['cleared globals', 'x = 1', 'globals().clear()', { code: 'print(__name__)', prints: '__main__\n' }],
  [
    'inspect.getsource of earlier calls',
    SQUARE,
    `${POINT}`,
    {
      code: 'import inspect\nprint(inspect.getsource(square), inspect.getsource(Point))',
      prints: /^def square\(x\):\n {4}return x \* x\n \n?@dataclass/,
    },
  ],
  [
    'doctest of an earlier call',
    'def twice(x):\n    """\n    >>> twice(2)\n    4\n    """\n    return 2 * x',
    { code: 'import doctest\nprint(doctest.testmod())', prints: 'TestResults(failed=0, attempted=1)\n' },
  ],
  [
    'unittest',
    'import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)',
    { code: 'unittest.main(argv=["x"], exit=False).result.wasSuccessful()', is: true, stderr: /Ran 1 test/ },
  ],
  [
    'a traceback through earlier calls',
    'def fail(x):\n    return 1 / x',
    {
      code: 'fail(0)',
      fails: 'ZeroDivisionError',
      traceback:
        /File "main_2\.py", line 1.*\n {4}fail\(0\).*File "main\.py", line 2, in fail\n {4}return 1 \/ x/s,
    },
    { code: '1', is: 1 },
  ],
  [
    'exceptions that are kept and chained',
    'try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    kept = error',
    {
      code: 'raise ValueError("later") from kept',
      fails: 'ValueError',
      traceback: /ZeroDivisionError.*direct cause/s,
    },
    { code: 'import sys\n[type(sys.last_value).__name__, sys.exc_info()[0]]', is: ['ValueError', null] },
    { code: 'raise KeyError(1)', fails: 'KeyError', traceback: /^Traceback(?!.*During handling)/s },
  ],
  [
    'a syntax error changes nothing',
    'x = 1',
    { code: 'x = 2\nx = = 3', fails: 'SyntaxError' },
    { code: 'x', is: 1 },
  ],
  [
    'sys.exit ends the call',
    { code: 'x = 1\nimport sys\nsys.exit(3)\nx = 2', exits: 3 },
    { code: 'x', is: 1 },
  ],
  [
    'a call that takes too long, also after a syntax error',
    'x = 1',
    { code: 'x = (', fails: 'SyntaxError' },
    { code: 'x = 2\nwhile True: pass', limits: { timeoutMs: 300 }, timesOut: true },
    {
      code: 'import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: pass',
      limits: { timeoutMs: 300 },
      timesOut: true,
    },
    { code: 'x', is: 2 },
  ],
  [
    'warnings show in every call',
    { code: 'import warnings\nwarnings.warn("one")', stderr: /UserWarning: one/ },
    { code: 'import warnings\nwarnings.warn("one")', stderr: /main_2\.py:2: UserWarning: one/ },
  ],
  [
    'logging',
    {
      code: 'import logging, sys\nlogging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s")\nlogging.warning("a")',
      prints: 'WARNING a\n',
    },
    { code: 'logging.getLogger().setLevel("INFO")\nlogging.info("b")', prints: 'INFO b\n' },
  ],
  [
    'stdin is that of the call',
    { code: 'input()', stdin: 'a\n', is: 'a' },
    { code: 'input()', fails: 'EOFError' },
    { code: 'import sys\nsys.stdin.read()', stdin: 'b\nc', is: 'b\nc' },
  ],
  [
    'arguments are those of the call',
    { code: 'import sys\nsys.argv', argv: ['a', 'b'], is: ['main.py', 'a', 'b'] },
    { code: 'sys.argv', is: ['main_2.py'] },
  ],
  [
    'a script that starts itself',
    'x = 1',
    {
      code: 'import subprocess, sys\nif len(sys.argv) > 1:\n    print("inner")\nelse:\n    subprocess.run([sys.executable, sys.argv[0], "again"], check=True)',
      prints: 'inner\n',
    },
  ],
  [
    'the working folder',
    'import os\nos.makedirs("a/b")\nos.chdir("a")',
    { code: 'os.listdir()', is: ['b'] },
    { code: 'os.chdir("..")\nos.listdir("a")', is: ['b'] },
  ],
  [
    'a working folder that is gone',
    'import os\nos.mkdir("a")\nos.chdir("a")\nos.rmdir("../a")',
    { code: 'print(1)', prints: '1\n' },
    { code: '1 / 0', fails: 'ZeroDivisionError' },
  ],
  [
    'os.environ',
    'import os\nos.environ["MODE"] = "test"',
    { code: 'import subprocess\nsubprocess.check_output("echo $MODE", shell=True, text=True)', is: 'test\n' },
  ],
  [
    'open files',
    'f = open("log.txt", "w+")\nf.write("a")',
    'f.write("b")',
    { code: 'f.seek(0)\nf.read()', is: 'ab' },
    { code: 'f.close()\nopen("log.txt").read()', is: 'ab' },
  ],
  [
    'temporary files',
    'import tempfile, os\nt = tempfile.NamedTemporaryFile("w+")\nd = tempfile.TemporaryDirectory()',
    { code: '[os.path.exists(t.name), os.path.isdir(d.name)]', is: [true, true] },
    { code: 'd.cleanup()\nos.path.isdir(d.name)', is: false },
  ],
  [
    'a database',
    'import sqlite3\ndb = sqlite3.connect(":memory:")\ndb.execute("create table t (n)")',
    'db.executemany("insert into t values (?)", [(1,), (2,)])',
    { code: 'db.execute("select sum(n) from t").fetchone()[0]', is: 3 },
  ],
  [
    'a context manager that stays open',
    'import contextlib\nstack = contextlib.ExitStack()\nstack.callback(print, "closed")\nf = stack.enter_context(open("a.txt", "w"))',
    { code: 'f.write("x")\nstack.close()', prints: 'closed\n' },
    { code: 'f.closed', is: true },
  ],
  [
    'weak references',
    'import weakref, gc\nclass A: pass\na = A()\nw = weakref.ref(a)',
    { code: 'w() is a', is: true },
    { code: 'del a\ngc.collect()\nw() is None', is: true },
  ],
  [
    'random numbers',
    'import random\nrandom.seed(1)\na = random.random()',
    'b = random.random()',
    { code: 'random.seed(1)\n[random.random() == a, random.random() == b]', is: [true, true] },
  ],
  [
    'threads',
    'import threading, queue\nq, out = queue.Queue(), queue.Queue()\ndef work():\n    while True: out.put(q.get() * 2)\nthreading.Thread(target=work, daemon=True).start()',
    'q.put(21)',
    { code: 'out.get(timeout=10)', is: 42 },
  ],
  [
    'a pool of threads',
    'from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)',
    `${SQUARE}\nfuture = pool.submit(square, 5)`,
    { code: 'future.result(10)', is: 25 },
    { code: 'list(pool.map(square, [1, 2]))', is: [1, 4] },
  ],
  [
    'multiprocessing with functions of earlier calls',
    SQUARE,
    'import multiprocessing\ncontext = multiprocessing.get_context("fork")',
    { code: 'with context.Pool(2) as pool:\n    print(pool.map(square, [1, 2, 3]))', prints: '[1, 4, 9]\n' },
  ],
  [
    'a pool of processes that is kept',
    `${SQUARE}\nimport multiprocessing\npool = multiprocessing.get_context("fork").Pool(2)`,
    { code: 'pool.map(square, range(4))', is: [0, 1, 4, 9] },
    { code: 'pool.map(square, range(3))\n', is: [0, 1, 4] },
    'pool.terminate()',
  ],
  [
    'a process that is kept',
    'import subprocess\np = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)',
    { code: 'p.stdin.write("hello\\n"); p.stdin.flush()\np.stdout.readline()', is: 'hello\n' },
    { code: 'p.stdin.close()\np.wait(10)', is: 0 },
  ],
  [
    'forked children end with their own status',
    'import os, sys',
    {
      code: 'if (pid := os.fork()) == 0: sys.exit(7)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))',
      prints: '7\n',
    },
    {
      code: 'if (pid := os.fork()) == 0: raise ValueError("child")\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))',
      prints: '1\n',
      stderr: /ValueError: child\n$/,
    },
    {
      code: 'import atexit\nif (pid := os.fork()) == 0:\n    atexit.register(print, "bye")\nelse:\n    os.waitpid(pid, 0)',
      prints: 'bye\n',
    },
    { code: '1', is: 1 },
  ],
  [
    'await, with tasks, queues and locks across calls',
    'import asyncio\nq = asyncio.Queue()\nlock = asyncio.Lock()\nasync def work():\n    n = 0\n    while True:\n        async with lock: n += 1\n        await q.put(n)\n        await asyncio.sleep(0)\ntask = asyncio.create_task(work())\nawait asyncio.sleep(0)',
    { code: 'await q.get()', is: 1 },
    { code: 'async with lock:\n    print(await q.get() > 1, task.done())', prints: 'True False\n' },
    { code: 'asyncio.run(asyncio.sleep(0, "own loop"))', is: 'own loop' },
    { code: 'await asyncio.sleep(60)', limits: { timeoutMs: 300 }, timesOut: true },
    {
      code: 'task.cancel()\ntry:\n    await task\nexcept asyncio.CancelledError:\n    print("cancelled")',
      prints: 'cancelled\n',
    },
  ],
  [
    'asyncio.run in every call',
    'import asyncio\nasync def f(n): return n',
    { code: 'asyncio.run(f(1))', is: 1 },
    { code: 'asyncio.run(f(2))', is: 2 },
  ],
  [
    'an alarm within a call',
    'import signal, time\ndef ring(*_): raise TimeoutError("ring")\nsignal.signal(signal.SIGALRM, ring)',
    { code: 'signal.setitimer(signal.ITIMER_REAL, 0.05)\ntime.sleep(10)', fails: 'TimeoutError' },
    { code: '1', is: 1 },
  ],
  [
    'whether system calls go on after a signal',
    'import ctypes, signal\nfor number in signal.SIGUSR1, signal.SIGUSR2: signal.signal(number, lambda *_: None)\nsignal.siginterrupt(signal.SIGUSR1, False)',
    'class Action(ctypes.Structure):\n    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_byte * 128), ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]\ndef restarts(number):\n    action = Action()\n    ctypes.CDLL(None).sigaction(number, None, ctypes.byref(action))\n    return bool(action.flags & 0x10000000)',
    { code: '[restarts(signal.SIGUSR1), restarts(signal.SIGUSR2)]', is: [true, false] },
    'signal.signal(signal.SIGUSR1, lambda *_: None)',
    { code: '[restarts(signal.SIGUSR1), restarts(signal.SIGUSR2)]', is: [false, false] },
  ],
  [
    'an output that was closed is there again',
    'import sys\nsys.stdout.close()',
    { code: 'print("a")', prints: 'a\n' },
    'sys.stdout.detach()',
    { code: 'print("b")', prints: 'b\n' },
    'sys.stderr = None',
    { code: 'print("c", file=sys.stderr)', stderr: 'c\n' },
  ],
  [
    'an output that was replaced stays',
    'import io, sys\nsys.stdout = io.StringIO()',
    { code: 'print("kept")', prints: '' },
    { code: 'text = sys.stdout.getvalue()\nsys.stdout = sys.__stdout__\ntext', is: 'kept\n' },
  ],
  [
    'a tracing function',
    'import sys\nseen = []\nsys.settrace(lambda frame, event, arg: seen.append(frame.f_code.co_name))\ndef f(): pass',
    'f()\nsys.settrace(None)',
    { code: 'f()\nseen.count("f") <= 1', is: true },
  ],
  [
    'sys.path and meta paths',
    'import sys, os\nos.makedirs("lib")\nopen("lib/deep.py", "w").write("v = 5")\nsys.path.insert(0, "lib")',
    { code: 'import deep\ndeep.v', is: 5 },
  ],
  [
    'annotations and type aliases',
    'from __future__ import annotations\nclass A:\n    next: A | None = None',
    { code: 'A.__annotations__["next"]', is: 'A | None' },
  ],
  [
    'the recursion limit',
    'import sys\nsys.setrecursionlimit(3000)\ndef deep(n): return 0 if n == 0 else deep(n - 1)',
    { code: 'deep(2000)', is: 0 },
  ],
  [
    'decimal contexts and locale',
    'import decimal\ndecimal.getcontext().prec = 5',
    { code: 'str(decimal.Decimal(1) / 3)', is: '0.33333' },
  ],
  [
    'context variables',
    'import contextvars\nv = contextvars.ContextVar("v", default=0)\nv.set(5)',
    { code: 'v.get()', is: 5 },
  ],
];
