import { describe, expect, test } from 'vitest';
import { PungiError } from '../../core/src/base/errors.js';
import type { Verdict } from '../../core/src/contract/outcome.js';
import { exitCodeOf, exitCodeOfError } from '../src/exit-codes.js';
import { program as pungi } from './pungi.js';

describe('a run ends with', () => {
  test.each([
    ['0 when all is well', 0, ['-c', 'pass'], ''],
    ['1 for an exception', 1, ['-c', 'raise ValueError("no")'], 'ValueError'],
    ['the status of the script', 7, ['-c', 'import sys; sys.exit(7)'], ''],
    ['0 for sys.exit(0)', 0, ['-c', 'import sys; sys.exit(0)'], ''],
    [
      '124 at the time limit',
      124,
      ['--timeout', '300', '-c', 'while True: import time; time.sleep(9)'],
      '300 ms',
    ],
    ['137 beyond its CPU time', 137, ['--max-cpu-ms', '200', '-c', 'while True: pass'], 'CPU'],
    ['137 beyond its memory', 137, ['--memory', '64', '-c', 'x = bytearray(400 << 20)'], '64 MB'],
    [
      '137 beyond its output',
      137,
      ['--max-output-hard-bytes', '9999', '-c', 'while True: print("x" * 999)'],
      '9999 bytes',
    ],
    ['139 for a segmentation fault', 139, ['-c', 'import ctypes; ctypes.string_at(0)'], 'SIGSEGV'],
    ['2 for a file outside the work folder', 2, ['--file', '../x=package.json', '-c', '1'], '..'],
  ])('%s', async (_, expected, args, words) => {
    const { status, stderr } = await pungi(['run', ...args]);
    expect({ status, stderr }).toEqual({ status: expected, stderr: expect.stringContaining(words) });
    if (words === '') expect(stderr).toBe('');
    else expect(stderr).toMatch(/(^|\n)pungi: [^\n]+\n$/);
  });

  test('69 where there is no interpreter, with one sentence that names where it looked', async () => {
    const { status, stdout, stderr } = await pungi(['run', '--python', '/nowhere/python3', '-c', '1']);
    expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
    expect(stderr).toMatch(/^pungi: [^\n]*\/nowhere\/python3[^\n]*PUNGI_PYTHON[^\n]*\n$/);
  });

  test('69 where the process tier is asked for and not allowed, saying what would allow it', async () => {
    const { status, stderr } = await pungi(['run', '--tier', 'process', '-c', '1']);
    expect(status).toBe(69);
    expect(stderr).toMatch(/^pungi: [^\n]*ALLOW_UNSANDBOXED=true[^\n]*\n$/);
  });
});

/** Endings that are hard to bring about from outside: the table alone. */
describe('the table of statuses', () => {
  const message = '';
  test.each<[number, Verdict]>([
    [137, { kind: 'processes-exceeded', code: 'PROCESS_LIMIT_EXCEEDED', message, limit: 1 }],
    [137, { kind: 'disk-exceeded', code: 'DISK_LIMIT_EXCEEDED', message, limitMb: 1 }],
    [143, { kind: 'killed', code: 'KILLED_BY_SIGNAL', message, signal: 'SIGTERM' }],
    [130, { kind: 'cancelled', code: 'CANCELLED', message }],
    [77, { kind: 'denied', code: 'DENIED', message, reason: '' }],
    [69, { kind: 'busy', code: 'SERVER_BUSY', message, queued: 1 }],
    [2, { kind: 'invalid', code: 'INVALID_INPUT', message, issues: [] }],
    [70, { kind: 'internal', code: 'INTERNAL_ERROR', message }],
    [66, { kind: 'no-environment', code: 'ENVIRONMENT_NOT_FOUND', message }],
    [74, { kind: 'no-environment', code: 'ENVIRONMENT_DAMAGED', message }],
    [75, { kind: 'no-environment', code: 'ENVIRONMENT_IN_USE', message }],
    [76, { kind: 'no-environment', code: 'PACKAGE_INSTALLATION_ERROR', message }],
    [69, { kind: 'no-environment', code: 'TOOL_UNAVAILABLE', message }],
    [255, { kind: 'exited', code: 'NONZERO_EXIT', message, status: -1 }],
  ])('%i for %j', (status, verdict) => expect(exitCodeOf(verdict)).toBe(status));

  test.each([
    [2, 'CONFIGURATION_ERROR'],
    [2, 'INVALID_INPUT'],
    [69, 'SANDBOX_UNAVAILABLE'],
    [69, 'TOOL_UNAVAILABLE'],
    [66, 'ENVIRONMENT_NOT_FOUND'],
    [73, 'ENVIRONMENT_EXISTS'],
    [74, 'ENVIRONMENT_DAMAGED'],
    [75, 'ENVIRONMENT_IN_USE'],
    [76, 'PACKAGE_INSTALLATION_ERROR'],
    [77, 'DENIED'],
    [130, 'CANCELLED'],
    [70, 'INTERNAL_ERROR'],
  ] as const)('%i for the error %s', (status, code) => {
    expect(exitCodeOfError(new PungiError(code, ''))).toBe(status);
  });
});
