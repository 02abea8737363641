import type { VerdictKind } from '../../packages/pungi/src/index.js';
import { py } from '../support/python.js';

/** One kind of run, with only what every door can pass on. */
export interface Ingredient {
  name: string;
  /** How many of fifty runs are of this kind. */
  share: number;
  arguments: { code: string; timeoutMs?: number; memoryMb?: number; inputData?: string[] };
  verdict: VerdictKind;
  stdout?: string;
  /** Cancelled as soon as it has printed. */
  isCancelled?: true;
}

export const INGREDIENTS: Ingredient[] = [
  { name: 'prints', share: 14, arguments: { code: 'print(6 * 7)' }, verdict: 'ok', stdout: '42\n' },
  {
    name: 'reads and writes',
    share: 8,
    arguments: {
      code: py`
        import tempfile
        for folder in (".", tempfile.gettempdir()):
            with open(f"{folder}/left-behind", "w") as file:
                file.write("x" * 100_000)
        print(input())
      `,
      inputData: ['hello'],
    },
    verdict: 'ok',
    stdout: 'hello\n',
  },
  {
    name: 'leaves children behind',
    share: 3,
    arguments: {
      code: py`
        import os, time
        for _ in range(3):
            if os.fork() == 0:
                os.setsid()
                time.sleep(1000)
        print("parent")
      `,
    },
    verdict: 'ok',
    stdout: 'parent\n',
  },
  { name: 'raises', share: 6, arguments: { code: '[][1]' }, verdict: 'python-error' },
  { name: 'does not compile', share: 2, arguments: { code: 'def' }, verdict: 'python-error' },
  { name: 'exits', share: 3, arguments: { code: 'import sys; sys.exit(3)' }, verdict: 'exited' },
  { name: 'exits at once', share: 3, arguments: { code: 'import os; os._exit(4)' }, verdict: 'exited' },
  { name: 'crashes', share: 2, arguments: { code: 'import ctypes; ctypes.string_at(0)' }, verdict: 'killed' },
  {
    name: 'takes too long',
    share: 3,
    arguments: { code: 'import time; time.sleep(1000)', timeoutMs: 50 },
    verdict: 'timed-out',
  },
  {
    name: 'takes too much memory',
    share: 1,
    arguments: {
      code: py`
        import time
        taken = []
        while True:
            taken.append(b"x" * 4_000_000)
            time.sleep(0.002)
      `,
      memoryMb: 64,
    },
    verdict: 'memory-exceeded',
  },
  {
    name: 'prints without end',
    share: 2,
    arguments: { code: 'while True: print("x" * 1000)' },
    verdict: 'output-exceeded',
  },
  {
    name: 'is cancelled',
    share: 3,
    arguments: { code: 'import time; print("going"); time.sleep(1000)' },
    verdict: 'cancelled',
    stdout: 'going\n',
    isCancelled: true,
  },
];

/** What the servers under test need so that the mixture gives its verdicts. */
export const SETTINGS = { MAX_OUTPUT_HARD_BYTES: '300000' };

const FIFTY = INGREDIENTS.flatMap((ingredient) => Array.from({ length: ingredient.share }, () => ingredient));
/** Has no divisor in common with fifty: the kinds alternate, and after fifty runs all have had their share. */
const STRIDE = 17;

export const ingredientOf = (run: number): Ingredient => FIFTY[(run * STRIDE) % FIFTY.length]!;
