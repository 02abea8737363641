import { expect, test } from 'vitest';
import { outcomeOf } from '../../../tests/support/outcomes.js';
import type { Outcome, Verdict } from '../../core/src/contract/outcome.js';
import { formatOutcome, type OutputStyle } from '../src/format-outcome.js';

const written = (text: string) => ({ text, bytes: text.length, truncated: false });
const words = (outcome: Partial<Outcome>, style?: OutputStyle) =>
  formatOutcome({ ...outcomeOf(), ...outcome }, style).map(({ text }) => text);

const everything = {
  stdout: written('printed\n'),
  stderr: written('a warning\n'),
  value: { type: 'int', repr: '42' },
};

const traceback =
  'Traceback (most recent call last):\n  File "main.py", line 1, in <module>\n    f()\nValueError: bad\nof two lines';
const raised: Verdict = {
  kind: 'python-error',
  code: 'PYTHON_ERROR',
  message: 'ValueError in line 1',
  exception: {
    type: 'ValueError',
    message: 'bad\nof two lines',
    line: 1,
    column: 1,
    text: 'f()',
    traceback,
    missingModule: null,
    missingPackage: null,
    hint: 'Mend it.',
  },
};

test.each<[OutputStyle, string[]]>([
  ['full', ['printed\n', '42', 'stderr:\na warning\n']],
  ['brief', ['printed\n', '42']],
  ['value', ['42']],
])('style %s shows what it says of a run that ended well', (style, expected) => {
  expect(words(everything, style)).toEqual(expected);
});

test.each<[OutputStyle, string[]]>([
  [
    'full',
    [`PYTHON_ERROR: ValueError in line 1\n${traceback}\nMend it.`, 'printed\n', 'stderr:\na warning\n'],
  ],
  [
    'brief',
    ['PYTHON_ERROR: ValueError in line 1\nof two lines\nMend it.', 'printed\n', 'stderr:\na warning\n'],
  ],
  ['value', ['PYTHON_ERROR: ValueError in line 1']],
])('style %s shows what it says of a run that failed', (style, expected) => {
  expect(words({ ...everything, value: null, verdict: raised }, style)).toEqual(expected);
});

test('style value shows the output where there is no value, and says so where there is neither', () => {
  expect(words({ stdout: written('printed\n') }, 'value')).toEqual(['printed\n']);
  expect(words({ stderr: written('a warning\n') }, 'value')).toEqual(['The code ended without output.']);
  expect(words({ stderr: written('a warning\n') }, 'brief')).toEqual(['The code ended without output.']);
});

test('the last line of a traceback is not repeated', () => {
  const verdict = { ...raised, message: 'ValueError: bad\nof two lines' };
  expect(words({ verdict }, 'brief')).toEqual(['PYTHON_ERROR: ValueError: bad\nof two lines\nMend it.']);
});

const disclosure = {
  server: 'pungi',
  capability: null,
  profile: 'default',
  persona: null,
  codeSummary: null,
  securityLevel: 'sandboxed',
  text: 'What was run.',
};
const cached = { runId: 'before', at: '2030-01-01T00:00:00.000Z' };

test.each<OutputStyle>(['full', 'brief', 'value'])(
  'the disclosure comes first, and a kept outcome says that it is one: %s',
  (style) => {
    expect(words({ value: { type: 'int', repr: '1' }, disclosure, cached }, style)).toEqual([
      'What was run.',
      'Not run again: this is the outcome of the same code from 2030-01-01T00:00:00.000Z. Pass fresh: true to run it again.',
      '1',
    ]);
    expect(words({ disclosure }, style)).toEqual(['What was run.', 'The code ended without output.']);
  },
);

test('a refusal lists every violation with its place, up to a point', () => {
  const violation = (line: number | null) => ({
    line,
    column: line === null ? null : 5,
    rule: 'import' as const,
    what: 'os',
    message: 'the profile "diego" does not allow the import of os',
  });
  const verdict = (...lines: (number | null)[]): Verdict => ({
    kind: 'denied',
    code: 'DENIED',
    message: 'Outside of the scope.',
    reason: 'scope',
    violations: lines.map(violation),
  });
  const reason = 'the profile "diego" does not allow the import of os';
  expect(words({ verdict: verdict(1, 7, null) })).toEqual([
    `DENIED: Outside of the scope.\n- 1:5 ${reason}\n- 7:5 ${reason}\n- ${reason}`,
  ]);
  expect(words({ verdict: verdict(1, 7) }, 'value')).toEqual(['DENIED: Outside of the scope.']);
  const [many] = words({ verdict: verdict(...Array.from({ length: 50 }, (_, line) => line + 1)) });
  expect(many?.split('\n')).toHaveLength(22);
  expect(many).toMatch(/… and 30 more$/);
});
