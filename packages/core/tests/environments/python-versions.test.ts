import { describe, expect, test } from 'vitest';
import { choosePython, parsePythonVersion, satisfies } from '../../src/environments/requirements/versions.js';

describe('the version of Python that is asked for', () => {
  test.each(['3.10', '3.12', '3.12.1', '3.999'])('may be %s', (text) => {
    expect(parsePythonVersion(text)).toBe(text);
  });

  test.each([
    '',
    '3',
    '3.12.',
    '3.12.1.0',
    '3.012',
    '>=3.12',
    '3.12.*',
    '3.13.0rc1',
    ' 3.12',
    '3.12\n',
    'python3.12',
    '/usr/bin/python3',
    './3.12',
    '3.12; rm -rf /',
    '٣.١٢',
    3.12,
    null,
  ])('is not %j', (text) => {
    expect(() => parsePythonVersion(text)).toThrow(/"3\.12" or "3\.12\.1"/);
  });

  test.each(['2.7', '3.9', '3.9.18', '4.0'])('is not %s, which Pungi does not run on', (text) => {
    expect(() => parsePythonVersion(text)).toThrow(/Python 3\.10 or newer/);
  });
});

describe('a specifier of Python', () => {
  test.each([
    ['3.12.1', ''],
    ['3.12.1', '>=3.10'],
    ['3.12.1', '>=3.10,<3.13'],
    ['3.12.1', ' >= 3.10 , != 3.11.* '],
    ['3.12.1', '==3.12.*'],
    ['3.12.1', '~=3.10'],
    ['3.12.1', '~=3.12.0'],
    ['3.12.0', '==3.12'],
    ['3.12.0', '<=3.12'],
    ['3.12.0', '>3.12.0rc1'],
    ['3.12.0', '<3.12.0.post1'],
    ['3.12.1', '===3.12.1'],
    ['3.12.1', '<1!0'],
    ['3.12.1', `<3.${'9'.repeat(40)}`],
  ])('%s is within "%s"', (version, specifier) => {
    expect(satisfies(version, specifier)).toBe(true);
  });

  test.each([
    ['3.12.1', '<3.12'],
    ['3.12.1', '>=3.10,<3.12'],
    ['3.12.1', '!=3.12.*'],
    ['3.12.1', '==3.12'],
    ['3.12.1', '~=3.11.2'],
    ['3.12.1', '>3.12.1'],
    ['3.12.0', '===3.12'],
    ['3.12.0', '==3.12.0+local'],
    ['3.1.0', '==3.12.*'],
    ['3.12.1', '>=1!3'],
  ])('%s is not within "%s"', (version, specifier) => {
    expect(satisfies(version, specifier)).toBe(false);
  });

  test.each([
    '3.12',
    '>=',
    '>=3.12,',
    '>=three',
    '>=3.12.*',
    '~=3',
    '=>3.12',
    '>=3.12 <3.14',
    `>=${'1'.repeat(600)}`,
  ])('is not "%s"', (specifier) => {
    expect(() => satisfies('3.12.1', specifier)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining('specifier') }),
    );
  });
});

describe('among interpreters', () => {
  const found = ['3.13.0', '3.12.10', '3.12.1', '3.1.4'].map((version) => ({
    path: `/opt/${version}`,
    version,
  }));
  const choose = (wanted: { version?: string; specifier?: string }) => choosePython(found, wanted)?.version;

  test('the first one that will do is chosen', () => {
    expect(choose({})).toBe('3.13.0');
    expect(choose({ version: '3.12' })).toBe('3.12.10');
    expect(choose({ version: '3.12.1' })).toBe('3.12.1');
    expect(choose({ specifier: '<3.13' })).toBe('3.12.10');
    expect(choose({ version: '3.12', specifier: '!=3.12.10' })).toBe('3.12.1');
  });

  test('none is, where none will do', () => {
    expect(choose({ version: '3.11' })).toBeUndefined();
    expect(choose({ version: '3.12.2' })).toBeUndefined();
    expect(choose({ version: '3.13', specifier: '<3.13' })).toBeUndefined();
  });
});
