import type { Outcome } from '../../../src/contract/outcome.js';
import { type Attack, py } from '../attack.js';

const valueWithin = (bytes: number) => (outcome: Outcome) =>
  (outcome.value?.repr.length ?? 0) <= bytes
    ? undefined
    : `the value takes ${outcome.value?.repr.length} characters`;

/** Text that breaks encoders, and objects that misbehave when they are shown. */
export const TEXT: Attack[] = [
  {
    name: 'invalid UTF-8 on stdout',
    code: 'import os\nos.write(1, b"a\\xff\\xfe\\xc3(\\xed\\xa0\\x80b\\n")\n',
    bare: true,
    expect: { verdict: 'ok', stdout: /^a[\ufffd(]+b\n$/ },
  },
  {
    name: 'a character cut in half at the end of the output',
    code: 'import os\nos.write(1, "é".encode()[:1])\n',
    bare: true,
    expect: { verdict: 'ok', stdout: '\ufffd' },
  },
  {
    name: 'characters written one byte at a time',
    code: 'import os\nfor byte in "aé€😀\\n".encode():\n    os.write(1, bytes([byte]))\n',
    bare: true,
    expect: { verdict: 'ok', stdout: 'aé€😀\n' },
  },
  {
    name: 'NULs and control characters on stdout',
    code: 'print("a\\0b\\x1b[31m\\r\\x07\\u2028c")\n',
    bare: true,
    expect: { verdict: 'ok', stdout: 'a\0b\x1b[31m\r\x07\u2028c\n' },
  },
  {
    name: 'a lone surrogate on stdout',
    code: 'print("before", flush=True)\nprint("\\ud800")\n',
    bare: true,
    // As with python itself under UTF-8, unless the stream replaces what it cannot encode.
    expect: { verdict: ['python-error', 'ok'], stdout: /^before\n/ },
  },
  {
    name: 'a lone surrogate in an exception',
    code: 'raise ValueError("a\\udc80b\\ud800")\n',
    bare: true,
    expect: { verdict: 'python-error', exception: 'ValueError' },
  },
  {
    name: 'a lone surrogate as value',
    code: '"a\\ud800b"\n',
    bare: true,
    expect: { verdict: 'ok' },
  },
  {
    name: 'a lone surrogate in the code',
    code: 'print("\ud800")\n',
    bare: true,
    expect: { verdict: ['ok', 'python-error', 'invalid'] },
  },
  {
    name: 'a NUL in the code',
    code: 'print(1)\0\nprint(2)\n',
    bare: true,
    expect: { verdict: ['python-error', 'invalid'] },
  },
  {
    name: 'surrogates and NULs in stdin, argv, context and files',
    code: 'import sys\nprint(len(sys.stdin.read()), len(context), len(open("f").read()))\n',
    bare: true,
    request: { stdin: 'a\0\ud800', context: 'a\0\ud800', files: [{ path: 'f', text: 'a\0\ud800' }] },
    expect: { verdict: ['ok', 'invalid'] },
  },
  {
    name: 'a declared encoding that does not exist',
    code: '# -*- coding: utf-7000 -*-\nprint(1)\n',
    bare: true,
    expect: { verdict: ['ok', 'python-error'] },
  },
  {
    name: 'a huge repr',
    code: '"x" * 20_000_000\n',
    bare: true,
    expect: { verdict: 'ok', also: valueWithin(1_000_000) },
  },
  {
    name: 'a huge nested value',
    code: '[list(range(1000)) for _ in range(1000)]\n',
    bare: true,
    expect: { verdict: 'ok', also: valueWithin(1_000_000) },
  },
  {
    name: 'a value that contains itself',
    code: 'loop = []\nloop.append(loop)\nloop\n',
    bare: true,
    expect: {
      verdict: 'ok',
      also: ({ value }) => (value?.repr === '[[...]]' ? undefined : `value ${value?.repr}`),
    },
  },
  {
    name: 'a value nested beyond any recursion limit',
    code: 'deep = []\nfor _ in range(100_000):\n    deep = [deep]\ndeep\n',
    bare: true,
    expect: { verdict: ['ok', 'python-error', 'killed'] },
  },
  {
    name: 'values that JSON cannot hold',
    code: '{"nan": float("nan"), "inf": float("inf"), "big": 10 ** 400, 1: 2, "bytes": b"x"}\n',
    bare: true,
    expect: { verdict: 'ok' },
  },
  {
    name: 'an integer too long to print',
    code: '10 ** 100_000\n',
    bare: true,
    expect: { verdict: ['ok', 'python-error'] },
  },
  {
    name: 'a value whose repr raises',
    code: py`
      class Bad:
          def __repr__(self):
              raise RuntimeError("no repr")
      Bad()
    `,
    expect: { verdict: 'ok' },
  },
  {
    name: 'a value whose repr is not a string',
    code: py`
      class Bad:
          def __repr__(self):
              return 5
      Bad()
    `,
    expect: { verdict: 'ok' },
  },
  {
    name: 'a value whose repr ends the process',
    code: py`
      class Bad:
          def __repr__(self):
              os._exit(7)
      Bad()
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'a value whose repr hangs',
    code: py`
      class Bad:
          def __repr__(self):
              time.sleep(60)
      Bad()
    `,
    limits: { timeoutMs: 500 },
    expect: { verdict: 'timed-out' },
  },
  {
    name: 'a value that lies about its class',
    code: py`
      class Liar(dict):
          @property
          def __class__(self):
              raise RuntimeError("no class")
          def items(self):
              raise RuntimeError("no items")
          def __iter__(self):
              raise RuntimeError("no iteration")
      Liar(a=1)
    `,
    expect: { verdict: ['ok', 'python-error'] },
  },
  {
    name: 'a huge exception message',
    long: true,
    code: 'raise ValueError("x" * 50_000_000)\n',
    bare: true,
    expect: { verdict: ['python-error', 'memory-exceeded'] },
  },
  {
    name: 'an exception with a huge class name',
    code: 'raise type("E" * 5_000_000, (Exception,), {})("x")\n',
    bare: true,
    limits: { timeoutMs: 2000 },
    expect: { verdict: 'python-error' },
  },
  {
    name: 'an exception whose str raises',
    code: py`
      class Bad(Exception):
          def __str__(self):
              raise RuntimeError("no text")
          __repr__ = __str__
      raise Bad()
    `,
    expect: { verdict: 'python-error', exception: /Bad$/ },
  },
  {
    name: 'an exception whose str loops',
    code: py`
      class Bad(Exception):
          def __str__(self):
              while True: time.sleep(1)
      raise Bad()
    `,
    limits: { timeoutMs: 500 },
    expect: { verdict: ['timed-out', 'python-error'] },
  },
  {
    name: 'an exception whose str ends the process',
    code: py`
      class Bad(Exception):
          def __str__(self):
              os._exit(0)
      raise Bad()
    `,
    // Ending with status 0 is the script's own choice; the supervisor reports what it saw.
    expect: { verdict: ['ok', 'python-error'] },
  },
  {
    name: 'exceptions in a circle and in a chain of ten thousand',
    code: py`
      first, second = ValueError("first"), ValueError("second")
      first.__cause__, second.__cause__ = second, first
      last = first
      for number in range(10_000):
          error = ValueError(str(number))
          error.__context__ = last
          last = error
      raise last
    `,
    expect: { verdict: ['python-error', 'killed'] },
  },
  {
    name: 'a SyntaxError with forged details',
    code: py`
      error = SyntaxError("x", ("f\ud800", "ten", [], b"text"))
      error.lineno, error.offset, error.text = "line", 10 ** 400, object()
      raise error
    `,
    expect: { verdict: 'python-error', exception: 'SyntaxError' },
  },
  {
    name: 'a BaseException that is not an Exception',
    code: 'raise BaseException("x")\n',
    bare: true,
    expect: { verdict: 'python-error', exception: 'BaseException' },
  },
  {
    name: 'KeyboardInterrupt and GeneratorExit from the script',
    code: 'raise KeyboardInterrupt\n',
    bare: true,
    expect: { verdict: 'python-error', exception: 'KeyboardInterrupt' },
  },
  {
    name: 'SystemExit with an object whose str raises',
    code: py`
      class Bad:
          def __str__(self):
              raise RuntimeError("no text")
      raise SystemExit(Bad())
    `,
    expect: { verdict: ['exited', 'python-error'] },
  },
  {
    name: 'deep recursion',
    code: 'def again():\n    again()\nagain()\n',
    bare: true,
    expect: { verdict: 'python-error', exception: 'RecursionError' },
  },
  {
    name: 'deep recursion without a limit',
    code: 'import sys\nsys.setrecursionlimit(10 ** 9)\nclass A:\n    def __getattr__(self, name):\n        return repr(getattr(self, name))\nA().x\n',
    bare: true,
    expect: { verdict: ['killed', 'memory-exceeded', 'python-error'] },
  },
  ...(
    [
      ['parentheses', '('.repeat(100_000)],
      ['brackets that close', `${'['.repeat(5000)}${']'.repeat(5000)}`],
      ['minus signs', `${'-'.repeat(200_000)}1`],
      ['attributes', `a${'.b'.repeat(200_000)}`],
      ['calls', `f${'()'.repeat(100_000)}`],
      ['lambdas', `${'lambda:'.repeat(50_000)}0`],
      ['indentation', Array.from({ length: 150 }, (_, depth) => `${' '.repeat(depth)}if 1:`).join('\n')],
    ] as const
  ).map(
    ([what, code]): Attack => ({
      name: `deeply nested code: ${what}`,
      code,
      bare: true,
      // Whether the parser refuses, runs out of stack or crashes depends on the version of Python.
      expect: { verdict: ['python-error', 'memory-exceeded', 'killed'] },
    }),
  ),
  {
    name: 'a constant that explodes while compiling',
    code: 'x = ((1 << 10_000) ** 2) ** 2\ny = "a" * 4000 * 4000\nprint(1)\n',
    bare: true,
    expect: { verdict: 'ok' },
  },
  {
    name: 'code of two megabytes',
    long: true,
    code: 'x = 1\n'.repeat(300_000),
    bare: true,
    expect: { verdict: ['ok', 'memory-exceeded'] },
  },
  {
    name: 'code larger than the server takes',
    code: '#'.repeat(3 * 1024 * 1024),
    bare: true,
    expect: { verdict: 'invalid' },
  },
];
