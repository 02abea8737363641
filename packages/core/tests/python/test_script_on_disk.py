"""The script is a file in its work folder, as in plain Python."""

import unittest

import plain_case

FAILING_THREAD = "import threading\ndef f():\n    raise ValueError('in a thread')\nt = threading.Thread(target=f, name='T')\nt.start()\nt.join()"
SNIPPETS = {
    "its own text": "print(open(__file__).read())",
    "its own text, elsewhere": "import os, tempfile\nos.chdir(tempfile.gettempdir())\nprint(open(__file__).read())",
    "its name": "import sys\nprint(__file__, sys.argv, __name__, sys.path[0])",
    "its variables": "print(sorted(dir()), list(globals()))\nprint(__doc__, __package__, __spec__, __cached__, __annotations__, type(__loader__), __loader__.path, __loader__.name, __builtins__)",
    "its docstring": "'''Words.'''\nprint(__doc__)",
    "its annotations": "x: int = 1\ny: 'str'\nprint(__annotations__, sorted(dir()))",
    "its source": "import inspect, sys\nclass A:\n    def b(self): pass\ndef f():\n    return 1\ng = lambda x: x + 1\nfor o in (A, A.b, f, g, sys.modules['__main__']):\n    print(inspect.getsource(o), inspect.getsourcefile(o), inspect.getfile(o))",
    "its source, elsewhere": "import inspect, os\nclass A: pass\nos.chdir('/')\nprint(inspect.getsource(A))",
    "itself as a process": "import subprocess, sys\nif len(sys.argv) > 1:\n    print('child', sys.argv)\nelse:\n    print(subprocess.run([sys.executable, __file__, 'x'], capture_output=True, text=True).stdout)",
    "removing it": "import os\nos.remove(__file__)\nprint(os.path.exists(__file__))\n1 / 0",
    "changing it": "open(__file__, 'a').write('# more')\nprint(open(__file__).read())",
    "spawned processes": "import multiprocessing as mp\ndef f(x): return x * 2\nif __name__ == '__main__':\n    for way in ('spawn', 'forkserver'):\n        with mp.get_context(way).Pool(1) as pool:\n            print(pool.map(f, [1, 2]))",
    "pickles": "import pickle\nclass A:\n    def __init__(self, x): self.x = x\nprint(pickle.loads(pickle.dumps(A(3))).x, pickle.dumps(A)[:40])",
    "running it again": "import runpy, sys\nif __name__ == '__main__':\n    print(runpy.run_path(__file__, run_name='again')['__name__'])\nelse:\n    print('again', __name__)",
    "importing itself": "import sys\nprint(__name__)\nif __name__ == '__main__':\n    import main\n    print(main.__file__)",
    "a traceback that it prints": "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()\n    print(traceback.format_exc())",
    "an exception of a thread": FAILING_THREAD,
    "an exception that is ignored": "class A:\n    def __del__(self):\n        raise ValueError('ignored')\na = A()\ndel a",
    "an exception": "def f(x):\n    return x['a']['b']\nf({'a': {}})",
    "an exception of a helper": "import helper\nhelper.fail(1)",
    "a chain": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    try:\n        raise KeyError('x') from e\n    except KeyError:\n        raise ValueError",
    "a misspelt name": "number = 1\nprint(numbr)",
    "a misspelt attribute": "import collections\ncollections.OrderedDic",
    "a misspelt attribute of its own": "class A:\n    value = 1\nA().valeu",
    "a misspelt import": "from collections import OrderedDic",
    "a raised text": "class E(Exception): pass\nraise E('several\\nlines')",
    "notes": "e = ValueError('x')\ngetattr(e, 'add_note', print)('a note')\nraise e",
    "endless recursion": "def f(): f()\nf()",
    "an assertion": "x = 1\nassert x == 2, 'words'",
    "a syntax error": "print(1)\nx = (1 +\n",
    "return": "x = 1\nif x:\n    return 1",
    "nonlocal": "def f():\n    nonlocal y\n    y = 1",
    "break": "break",
    "two stars": "f(**a, *b)",
    "yield": "class A:\n    yield 1",
    "await": "def f():\n    await x",
    "a late future": "x = 1\nfrom __future__ import annotations",
    "no such future": "from __future__ import nothing",
    "a name that is global too late": "def f():\n    x = 1\n    global x",
    "an indentation": "if 1:\nprint(1)",
    "tabs": "if 1:\n        a = 1\n\tb = 2",
    "a syntax error of a helper": "import broken",
    "a syntax error of exec": "exec('x = = 1')",
    "return in exec": "exec('return 1')",
    "a syntax error of compile": "compile('return 1', 'other', 'exec')",
    "a syntax error of ast": "import ast\nast.parse('x = = 1')",
    "an escape that is none": "import warnings\nprint('\\d')\nx = 1 is 1",
    "CRLF": "x = 1\r\nprint(x)\r\n1 / 0\r\n",
    "CR": "x = 1\rprint(x)\r",
    "a form feed": "x = 1\n\x0c\ndef f():\n    return 1 / 0\nf()",
    "separators in a text": "a = 'x\u2028y\x0b\x1c'\nprint(repr(a))\n1 / 0",
    "letters": "żółć = 'ż'\nprint(żółć)\nżółć + 1",
    "a mark": "\ufeffprint(1)",
    "a declared encoding": "# -*- coding: utf-8 -*-\nprint('ż')",
    "nothing": "",
    "a comment": "# nothing",
}
FILES = {"helper.py": "def fail(x):\n    return x.nothing\n", "broken.py": "x = 1\ny = = 2\n"}


class ScriptOnDisk(plain_case.PlainCase):
    def test_is_as_in_plain_python(self):
        for name, code in SNIPPETS.items():
            with self.subTest(name):
                self.assertAsPlain(code, files=FILES if "helper" in code or "broken" in code else {})


if __name__ == "__main__":
    unittest.main()
