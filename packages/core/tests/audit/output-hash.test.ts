import { describe, expect, test } from 'vitest';
import { outputSha256 } from '../../src/audit/run-facts.js';
import { someFacts } from './fixtures/outcomes.js';

describe('the hash of the output', () => {
  const { outcome } = someFacts();
  const exception = { type: 'ValueError', message: 'x', line: 1, column: 1, text: '', traceback: 'a' };
  const more = { missingModule: null, missingPackage: null, hint: null };
  const failed = (message: string, traceback: string) => ({
    ...outcome,
    verdict: {
      kind: 'python-error' as const,
      code: 'PYTHON_ERROR' as const,
      message: 'said',
      exception: { ...exception, ...more, message, traceback },
    },
  });

  test('is the same for the same output, whenever and however long it ran', () => {
    const again = { ...outcome, runId: 'other', usage: { ...outcome.usage, wallMs: 99 }, environment: 'ml' };
    expect(outputSha256(again)).toBe(outputSha256(outcome));
    expect(outputSha256(failed('x', 'here'))).toBe(outputSha256(failed('x', 'there')));
  });

  test.each([
    { ...outcome, stdout: { ...outcome.stdout, text: '2\n' } },
    { ...outcome, stderr: { ...outcome.stderr, text: 'warning' } },
    { ...outcome, value: { type: 'int', repr: '1' } },
    {
      ...outcome,
      verdict: { kind: 'exited' as const, code: 'NONZERO_EXIT' as const, message: '', status: 1 },
    },
    failed('x', ''),
  ])('is another for another output (%#)', (other) => {
    expect(outputSha256(other)).not.toBe(outputSha256(outcome));
  });

  test('knows statuses and exceptions apart', () => {
    const exited = (status: number) => ({
      ...outcome,
      verdict: { kind: 'exited' as const, code: 'NONZERO_EXIT' as const, message: '', status },
    });
    expect(outputSha256(exited(3))).not.toBe(outputSha256(exited(4)));
    expect(outputSha256(failed('x', ''))).not.toBe(outputSha256(failed('y', '')));
  });
});
