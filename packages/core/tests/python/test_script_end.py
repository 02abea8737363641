"""A script ends as in plain Python: threads, exit handlers, objects, hooks, statuses."""

import unittest

import plain_case

DEL = "class A:\n    def __init__(self, name): self.name = name\n    def __del__(self): print('del', self.name)\n"
SNIPPETS = {
    "an object that lives to the end": DEL + "a = A('a')\nb = A('b')\nprint('end')",
    "one in a cycle": DEL + "a = A('a')\na.self = a\ndel a\nprint('end')",
    "one in a cycle that is a variable": DEL + "a = A('a')\na.self = a\nprint('end')",
    "one without a module's function": "import weakref\nprint(type(weakref.ref))\nx = weakref.finalize(weakref.WeakSet(), print, 'final')",
    "one in a list": DEL + "many = [A('only')]",
    "one in a closure": DEL + "def make():\n    a = A('inner')\n    return lambda: a\nkeep = make()",
    "one in a default": DEL + "def f(a=A('default')): pass",
    "one of a class": DEL + "class B:\n    a = A('attribute')",
    "one in a local of a generator": DEL + "def g():\n    a = A('local')\n    yield 1\nit = g()\nnext(it)",
    "one in the local variables of an exception": DEL + "def f():\n    a = A('local')\n    1 / 0\nf()",
    "one after sys.exit": DEL + "import sys\na = A('a')\nsys.exit(3)",
    "one in another module": "import helper\nhelper.keep = helper.A()\nprint('end')",
    "one that prints when stdout is replaced": DEL + "import io, sys\na = A('a')\nsys.stdout = io.StringIO()",
    "one whose __del__ fails": "class A:\n    def __del__(self): 1 / 0\na = A()",
    "one whose __del__ looks around": "import sys, inspect\nclass A:\n    def __del__(self): print([f.function for f in inspect.stack()], sys._getframe().f_back)\na = A()",
    "one whose __del__ uses a variable": "name = 'global'\nclass A:\n    def __del__(self): print(name)\na = A()",
    "the value of the last expression": DEL + "A('value') and None",
    "a generator's finally": "def g():\n    try:\n        yield 1\n    finally:\n        print('finally')\nit = g()\nnext(it)",
    "a context that stays open": "import contextlib\n@contextlib.contextmanager\ndef c():\n    try:\n        yield\n    finally:\n        print('closed')\ncm = c()\ncm.__enter__()",
    "a coroutine that nobody awaits": "async def f(): pass\nf()\nx = f()\nprint('end')",
    "a task that is pending": "import asyncio\nasync def f(): await asyncio.sleep(100)\nloop = asyncio.new_event_loop()\ntask = loop.create_task(f(), name='T')\nloop.run_until_complete(asyncio.sleep(0))",
    "an exception of a task that nobody reads": "import asyncio\nasync def f(): 1 / 0\nasync def main():\n    global t\n    t = asyncio.create_task(f(), name='T')\n    await asyncio.sleep(0)\nasyncio.run(main())",
    "an async generator that stays open": "import asyncio\nasync def g():\n    try:\n        yield 1\n    finally:\n        print('closed')\nasync def main():\n    global it\n    it = g()\n    print(await it.__anext__())\nasyncio.run(main())",
    "exit handlers": "import atexit\natexit.register(print, 'first')\natexit.register(print, 'second')\nprint('end')",
    "an exit handler that fails": "import atexit\ndef f(): 1 / 0\natexit.register(print, 'after')\natexit.register(f)",
    "an exit handler that exits": "import atexit, sys\natexit.register(sys.exit, 5)\nprint('end')",
    "an exit handler that looks around": "import atexit, sys\n@atexit.register\ndef f(): print(sys._getframe().f_back, getattr(sys, 'last_value', None))\n1 / 0",
    "an exit handler that registers another": "import atexit\natexit.register(lambda: atexit.register(print, 'late'))",
    "handlers, threads and objects in order": DEL + "import atexit, threading\na = A('a')\natexit.register(print, 'handler')\ndef work():\n    threading.main_thread().join()\n    print('thread')\nthreading.Thread(target=work).start()\nprint('end')",
    "a thread after an exception": "import threading\nthreading.Thread(target=lambda: (threading.main_thread().join(), print('thread'))).start()\n1 / 0",
    "another end of threads": "import threading\nend = threading._shutdown\nthreading._shutdown = lambda: (print('waited'), end())",
    "an object that goes after the threads": "import threading\nclass A:\n    def __del__(self, main=threading.main_thread()): print(main.is_alive())\na = A()",
    "a daemon thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(100,), daemon=True).start()\nprint('end')",
    "a pool that stays open": "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor(2)\nf = p.submit(print, 'in the pool')\nprint(f.result())",
    "a temporary folder": "import tempfile, os, atexit\nd = tempfile.TemporaryDirectory()\natexit.register(lambda: print(os.path.exists(d.name)))",
    "a finalizer": "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'finalized')\nprint('end')",
    "a weak reference": "import weakref\nclass A: pass\na = A()\nr = weakref.ref(a, lambda _: print('gone'))",
    "a weak reference of another class": "import weakref\nclass R(weakref.ref): pass\nclass A: pass\na = A()\nr = R(a, lambda _: print('gone'))",
    "a weak reference that names a module's function": "import weakref\nclass A: pass\na = A()\nr = weakref.ref(a, print)",
    "logging to the end": "import logging, atexit\nclass H(logging.Handler):\n    def emit(self, r): print('emit', r.msg)\n    def close(self): print('closed')\nlogging.getLogger().addHandler(H())\nlogging.warning('x')",
    "buffered text": "import sys\nsys.stdout.write('no newline')\nsys.stderr.write('neither')",
    "a file that stays open": "f = open('out.txt', 'w')\nf.write('x')",
    "a resource warning": "import warnings\nwarnings.simplefilter('always')\nf = open('out.txt', 'w')",
    "an excepthook for threads": "import threading\nthreading.excepthook = lambda a: print('hook', a.exc_type.__name__, a.thread.name)\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start()\nt.join()",
    "an excepthook for what is ignored": "import sys\nsys.unraisablehook = lambda a: print('hook', a.exc_value, a.err_msg)\nclass A:\n    def __del__(self): 1 / 0\na = A()\ndel a\nb = A()",
    **{f"exit {code}": f"import sys\nsys.exit({code})" for code in ("", "None", "0", "3", "True", "-1", "256", "'words'", "[1, 2]", "1.5", "2 ** 40")},
    "exit of the builtins": "exit(4)",
    "quit": "quit('words')",
    "exit in a thread": "import sys, threading\nt = threading.Thread(target=sys.exit, args=(3,))\nt.start()\nt.join()\nprint('end')",
    "a subclass of SystemExit": "class E(SystemExit): pass\nraise E(7)",
    "os._exit": "import os\nprint('x', flush=True)\nos._exit(9)",
    "a stdout that cannot be flushed": "import sys\nclass Broken:\n    def write(self, text): pass\n    def flush(self): raise OSError('cannot flush')\nsys.stdout = Broken()",
    "closed stdout": "import sys\nprint('x')\nsys.stdout.close()",
    "a forked child that goes on": DEL + "import os\na = A('a')\npid = os.fork()\nif pid: os.waitpid(pid, 0)",
    **{
        f"a forked child that ends with {what}": "import os, sys\nif pid := os.fork():\n    print(os.waitpid(pid, 0)[1])\nelse:\n    " + code
        for what, code in {
            "an exception": "def f(): 1 / 0\n    f()",
            "one and its cause": "try: {}['x']\n    except KeyError as error: raise ValueError('bad') from error",
            "one for its hook": "sys.excepthook = lambda *a: print('hook', a[1], file=sys.stderr)\n    1 / 0",
            "a message": "sys.exit('words')",
        }.items()
    },
    "a child that multiprocessing forks": DEL + "import multiprocessing as mp\na = A('a')\ndef f(): print('child')\nif __name__ == '__main__':\n    p = mp.get_context('fork').Process(target=f)\n    p.start()\n    p.join()",
}
FILES = {"helper.py": "class A:\n    def __del__(self): print('del of a helper')\n"}
HOOKS = {
    "its own": "import sys\nsys.excepthook = lambda kind, error, trace: print('hook', kind.__name__, error, trace.tb_lineno, trace.tb_next)\n1 / 0",
    "a default one around": "import sys\ndef hook(*a):\n    print('before')\n    sys.__excepthook__(*a)\nsys.excepthook = hook\ndef f(): {}['x']\nf()",
    "one that fails": "import sys\ndef hook(*a): raise ValueError('in the hook')\nsys.excepthook = hook\n1 / 0",
    "one that exits": "import sys\nsys.excepthook = lambda *a: sys.exit(7)\n1 / 0",
    "one that is not asked": "import sys\nsys.excepthook = lambda *a: print('hook')\nsys.exit(2)",
    "one for a syntax error of a helper": "import sys\nsys.excepthook = lambda *a: print(a[1])\nimport helper",
    "one that sees the last exception": "import sys\nsys.excepthook = lambda *a: print(sys.last_value is a[1], sys.last_traceback is a[2])\n1 / 0",
    "one before threads and handlers": "import sys, atexit, threading\nsys.excepthook = lambda *a: print('hook')\natexit.register(print, 'handler')\nthreading.Thread(target=lambda: (threading.main_thread().join(), print('thread'))).start()\n1 / 0",
}


class ScriptEnd(plain_case.PlainCase):
    def test_is_as_in_plain_python(self):
        for name, code in SNIPPETS.items():
            with self.subTest(name):
                self.assertAsPlain(code, files=FILES if "helper" in code else {})

    def test_its_excepthook_is_called_as_in_plain_python(self):
        for name, code in HOOKS.items():
            with self.subTest(name):
                self.assertAsPlain(code, files={"helper.py": "x = = 1"} if "helper" in code else {}, prints_traceback=False)


if __name__ == "__main__":
    unittest.main()
