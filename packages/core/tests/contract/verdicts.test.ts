import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/base/errors.js';
import { exitCodeOf, FAILURES, failure, faultOf, kindOfCode, Verdict } from '../../src/contract/verdicts.js';

const codesOf = (kind: keyof typeof FAILURES) => Object.keys(FAILURES[kind].codes);
const KINDS = Object.keys(FAILURES) as (keyof typeof FAILURES)[];

describe('the table of verdicts', () => {
  test('has every code once, but for those that no run ends with', () => {
    const codes = KINDS.flatMap(codesOf);
    expect(new Set(codes).size).toBe(codes.length);
    expect(ERROR_CODES.filter((code) => !codes.includes(code))).toEqual([
      'CONFIGURATION_ERROR',
      'SESSION_NOT_COPIED',
      'RUN_NOT_FOUND',
      'ENVIRONMENT_EXISTS',
    ]);
  });

  test('finds the kind of each code', () => {
    for (const kind of KINDS)
      for (const code of codesOf(kind)) expect(kindOfCode(code as (typeof ERROR_CODES)[number])).toBe(kind);
    expect(kindOfCode('ENVIRONMENT_EXISTS')).toBe('internal');
  });

  test('writes a verdict that its schema accepts, with code, exit status and fault', () => {
    const verdict = failure('timed-out', { limitMs: 250 });
    expect(Verdict.parse(verdict)).toEqual({
      kind: 'timed-out',
      code: 'EXECUTION_TIMEOUT',
      message: 'The run was ended after 250 ms.',
      limitMs: 250,
    });
    expect([exitCodeOf(verdict), faultOf(verdict)]).toEqual([124, 'none']);
  });

  test('lets a sentence replace the usual one', () => {
    expect(failure('busy', { queued: 3 }, 'Too many wait.').message).toBe('Too many wait.');
  });

  test('passes the status and the signal of a script through', () => {
    expect(exitCodeOf(failure('exited', { status: 259 }))).toBe(3);
    expect(exitCodeOf(failure('killed', { signal: 'SIGSEGV' }))).toBe(139);
  });
});
