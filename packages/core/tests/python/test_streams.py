"""The standard streams of a run are those of `python main.py` with pipes."""

import unittest

from plain_case import PlainCase

# What a program can ask of a stream. That stdout is written line by line is a difference on purpose.
_ATTRIBUTES = """
import sys
def ask(question):
    try:
        return question()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
names = ["name", "mode", "encoding", "errors", "newlines", "write_through", "closed", "_CHUNK_SIZE"]
questions = ["seekable", "tell", "readable", "writable", "isatty", "fileno", "__repr__"]
for name in ("stdin", "stdout", "stderr"):
    stream = getattr(sys, name)
    for layer in (stream, stream.buffer, stream.buffer.raw):
        print(name, type(layer), [ask(lambda: getattr(layer, each)) for each in names])
        print(name, type(layer), [ask(lambda: getattr(layer, each)()) for each in questions])
    print(name, getattr(sys, f"__{name}__") is stream, stream.buffer.raw.closefd)
print(sys.stderr.line_buffering, sys.stdin.line_buffering)
"""

_SAME = {
    "reconfigured": "import sys\nsys.stdout.reconfigure(encoding='utf-8', errors='replace')\nprint('ż', sys.stdout)",
    "reconfigured as latin-1": "import sys\nsys.stdout.reconfigure(encoding='latin-1')\nprint('é')",
    "reconfigured newlines": "import sys\nsys.stdout.reconfigure(newline='\\r\\n')\nprint('a')\nprint('b')",
    "stdin reconfigured": "import sys\nsys.stdin.reconfigure(encoding='utf-8', errors='strict')\nprint(sys.stdin.read())",
    "wrapped": "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('ż', sys.stdout)",
    "detached": "import io, sys\nraw = sys.stdout.detach()\nsys.stdout = io.TextIOWrapper(raw, encoding='utf-8')\nprint('ż')",
    "a codec's writer": "import codecs, sys\nsys.stdout = codecs.getwriter('utf-8')(sys.stdout.buffer)\nprint('ż')",
    "opened anew": "with open(1, 'w', closefd=False) as out: print('one', file=out)\nprint('two')",
    "unbuffered": "import io, os, sys\nsys.stdout = io.TextIOWrapper(open(1, 'wb', 0), write_through=True)\nprint('a', end='')",
    "fdopen": "import os\nwith os.fdopen(os.dup(1), 'w') as out: print(out.seekable(), file=out)",
    "redirected": "import contextlib, io\ntext = io.StringIO()\nwith contextlib.redirect_stdout(text): print('inside')\nprint(repr(text.getvalue()))",
    "descriptors swapped": "import os, sys\nkept = os.dup(1)\nos.dup2(2, 1)\nprint('to stderr', flush=True)\nos.dup2(kept, 1)\nprint('to stdout')",
    "bytes": "import sys\nsys.stdout.buffer.write(b'\\xff\\x00raw')\nsys.stdout.flush()\nsys.stdout.buffer.raw.write(b'!')",
    "closed": "import sys\nprint('a')\nsys.stdout.close()\nprint(sys.stdout.closed, file=sys.stderr)",
    "carriage returns": "import sys\nfor n in range(3): print(n, end='\\r', flush=True)\nprint('\\r\\n', end='')\nsys.stderr.write('50%\\r')",
    "no newline": "print('a', end='')",
    "undecodable": "print('\\udcff')",
    "a long text": "print('x' * 100_000)\nimport sys\nsys.stdout.write('y' * 100_000)\nsys.stderr.write('z' * 100_000)",
    "writes and prints": "import os\nfor n in range(3):\n    print(n, flush=True)\n    os.write(1, b'w\\n')",
    "seeks": "import sys\nfor stream in (sys.stdout, sys.stdin):\n    try: print(stream.seek(0))\n    except Exception as error: print(repr(error))",
    "truncates": "import sys\ntry: sys.stdout.truncate()\nexcept Exception as error: print(type(error))",
    "reads stdout": "import sys\ntry: sys.stdout.read()\nexcept Exception as error: print(repr(error))",
    "lines of stdin": "import sys\nprint(list(sys.stdin), sys.stdin.newlines)",
    "bytes of stdin": "import sys\nprint(sys.stdin.buffer.read())",
    "input": "print(repr(input('? ')), repr(input()))",
    "an end of input": "input()\ninput()\ntry: input()\nexcept EOFError as error: print(repr(error))",
    "open(0)": "print(open(0).read())",
    "fileinput": "import fileinput\nprint(list(fileinput.input()))",
}


class Streams(PlainCase):
    def test_are_asked_without_input(self):
        self.assertIn("<stdout>", self.assertAsPlain(_ATTRIBUTES))

    def test_are_asked_with_input(self):
        self.assertAsPlain(_ATTRIBUTES, stdin="one\n")

    def test_are_used(self):
        for name, code in _SAME.items():
            with self.subTest(name):
                self.assertAsPlain(code, stdin="one ż\r\ntwo\n")

    def test_a_lone_surrogate_cannot_be_printed(self):
        code = "try: print('\\ud800')\nexcept UnicodeEncodeError as error: print(error.reason)"
        self.assertEqual(self.assertAsPlain(code), "surrogates not allowed\n")

    def test_children_print_in_their_place(self):
        code = "import os, subprocess\nprint('one')\nsubprocess.run(['echo', 'two'])\nos.write(1, b'three\\n')\nprint('four')"
        for _, printed in self.run_everywhere(code):
            self.assertEqual(printed, "one\ntwo\nthree\nfour\n")


if __name__ == "__main__":
    unittest.main()
