import { expect, test } from 'vitest';
import { cleanText, explanationOf, progressOf } from '../../../src/environments/packaging/task.js';

test('an explanation is what is left without progress and warnings', () => {
  const said = [
    'Using Python 3.11.7 environment at: /somewhere',
    'warning: `VIRTUAL_ENV` does not match',
    '  and this is more of the warning',
    'Resolved 2 packages in 5ms',
    'Downloading numpy (16.0MiB)',
    ' + numpy==2.4',
    '\u001b[1m\u001b[31merror\u001b[39m\u001b[0m: No solution found when resolving dependencies',
    '  cause: Because only apple<=2.0 is available and you require apple>=9',
    '',
    'hint: A hint',
  ];
  expect(explanationOf(said.join('\n'))).toBe(
    said
      .slice(6)
      .join('\n')
      .replace(/.*error.*?: /, 'error: '),
  );
});

test('an error after a warning is not part of it', () => {
  const error = '  × No solution found when resolving dependencies:\n  ╰─▶ Because of that';
  expect(explanationOf(`warning: something\n${error}`)).toBe(error.trim());
});

test('names and passwords in addresses are hidden', () => {
  expect(cleanText('Failed to fetch https://user:pass@h.example/x and http://token@h/y, a@b')).toBe(
    'Failed to fetch https://***@h.example/x and http://***@h/y, a@b',
  );
});

test('an explanation has an end', () => {
  expect(explanationOf('x'.repeat(100_000))).toHaveLength(4097);
});

test.each([
  ['Resolved 3 packages in 4ms', 'Resolved 3 packages in 4ms'],
  ['\u001b[2mDownloading\u001b[0m numpy (16.0MiB)', 'Downloading numpy (16.0MiB)'],
  [' + numpy==2.4', '+ numpy==2.4'],
  ['error: something', undefined],
  ['Using Python 3.11', undefined],
])('%j is the step %j', (line, step) => {
  expect(progressOf(line)).toBe(step);
});
