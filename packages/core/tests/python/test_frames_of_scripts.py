"""A script sees its own frames and no others, as in plain Python."""

import unittest

import plain_case

SNIPPETS = {
    "the stack": "import inspect\nprint([f.function for f in inspect.stack()])\ndef f(): return [x.function for x in inspect.stack()]\nprint(f())",
    "the frame below": "import sys\nprint(sys._getframe().f_back)\ntry:\n    sys._getframe(1)\nexcept ValueError as error:\n    print(error)",
    "a printed stack": "import traceback\ndef f(): traceback.print_stack()\nf()\nprint(traceback.format_stack())",
    "the recursion limit": (
        "import sys\nprint(sys.getrecursionlimit())\ndef f(n=1):\n    try:\n        return f(n + 1)\n    except RecursionError:\n        return n\nprint(f())"
    ),
    "recursion through C": (
        "def f(n=1):\n    try:\n        return max([n], key=lambda n: f(n + 1)) and depth.append(n)\n    except RecursionError:\n        depth.append(n)\n"
        "depth = []\nf()\nprint(max(depth) > 100)"
    ),
    "a lowered limit": "import sys\nsys.setrecursionlimit(20)\ndef f(n): return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as error:\n    print(error)",
    "a warning": "import warnings\nwarnings.warn('a')\ndef f():\n    warnings.warn('b', stacklevel=2)\nf()\nwarnings.warn('c', stacklevel=2)\nwarnings.warn('d', DeprecationWarning)\nwarnings.warn('e', UserWarning, 9)",
    "who logs": "import logging\nlogging.basicConfig(format='%(filename)s %(lineno)d %(funcName)s %(message)s %(pathname)s')\nlogging.warning('x')\nlogging.warning('y', stack_info=True)",
    "no exception": "import sys\nprint(sys.exc_info(), getattr(sys, 'last_value', None))\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n    print(e.__context__, e.__traceback__.tb_next, e.__traceback__.tb_frame.f_back)\nprint(sys.exc_info())",
    "a trace": (
        "import sys\nseen = []\ndef trace(frame, event, argument):\n    seen.append((frame.f_code.co_name, event, frame.f_lineno))\n    return trace\n"
        "def f():\n    return 1\nsys.settrace(trace)\nsys._getframe().f_trace = trace\nf()\nx = 1\nsys.settrace(None)\nprint(seen)"
    ),
    "a trace to the end": (
        "import sys\ndef trace(frame, event, argument):\n    print(event, frame.f_lineno, flush=True) if frame.f_globals is globals() else 0\n    return trace\n"
        "sys._getframe().f_trace = trace\nsys.settrace(trace)\nx = 1\nprint(x)\n"
    ),
    "a profile": "import sys\nseen = []\nsys.setprofile(lambda frame, event, _: seen.append((frame.f_code.co_name, event)))\ndef f(): pass\nf()\nsys.setprofile(None)\nprint(seen)",
    "threads": "import threading\nprint(threading.current_thread().name, threading.active_count(), threading.main_thread() is threading.current_thread(), len(threading.enumerate()))",
    "frames of threads": "import sys, threading\nprint(len(sys._current_frames()), list(sys._current_frames()) == [threading.get_ident()])",
    "signals": "import signal\nprint(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\nsignal.signal(signal.SIGALRM, lambda *a: print('alarm', a[1].f_code.co_name, a[1].f_back))\nsignal.raise_signal(signal.SIGALRM)",
    "the module's code": "import sys\ncode = sys._getframe().f_code\nprint(code.co_name, code.co_firstlineno, code.co_argcount, code.co_freevars)\nprint(code.co_filename)",
    "namedtuple and its module": "import collections, enum\nprint(collections.namedtuple('A', 'b').__module__, enum.Enum('E', 'a').__module__)",
    "a tracer of the standard library": "import trace\ndef f():\n    return 1\nt = trace.Trace(count=False, trace=True)\nt.runfunc(f)",
    "exec and eval": "import sys\nexec('print(sys._getframe().f_back.f_back)')\nprint(eval('sys._getframe().f_back.f_back'))",
    "a fork": "import os, sys, inspect\npid = os.fork()\nif pid == 0:\n    print(len(inspect.stack()), flush=True)\n    os._exit(0)\nos.waitpid(pid, 0)",
    "a fork to the end": "import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\nprint('parent' if pid else 'child')",
    **{f"{depth} nested blocks": "".join(f"{' ' * n}for _ in 'x':\n" for n in range(depth)) + " " * depth + "print(1)" for depth in (19, 20, 21)},
    "deep recursion": "import sys\nsys.setrecursionlimit(20_000)\ndef f(n): return n and f(n - 1)\nprint(f(10_000))",
}


class Frames(plain_case.PlainCase):
    def test_are_those_of_plain_python(self):
        for name, code in SNIPPETS.items():
            with self.subTest(name):
                self.assertAsPlain(code)


if __name__ == "__main__":
    unittest.main()
