import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PungiError } from '../../src/base/errors.js';
import { checkName, foldName } from '../../src/environments/store/layout.js';

const refusal = (name: unknown): string => {
  try {
    checkName(name);
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_INPUT', details: { issues: [expect.any(String)] } });
    return (error as PungiError).message;
  }
  throw new Error(`"${name}" was taken for a name.`);
};

describe('the name of an environment', () => {
  test.each([
    'a',
    'ml',
    'pandas2',
    'client-a',
    '_x',
    '0',
    'A-b_C',
    'com',
    'com10',
    'console',
    'x'.repeat(64),
  ])('may be %s', (name) => expect(checkName(name)).toBe(name));

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(65)],
    ['an option', '-x'],
    ['a path up', '..'],
    ['a hidden folder', '.locks'],
    ['a path', 'a/b'],
    ['a path of Windows', 'a\\b'],
    ['with a space', 'a b'],
    ['with a line break', 'a\n'],
    ['with a null character', 'a\0'],
    ['with a letter beyond ASCII', 'größe'],
    ['with a letter that folds into ASCII', '\u212aelvin'],
    ['a number', 7],
    ['nothing', undefined],
    ['a list', ['a']],
  ])('is refused where it is %s', (_, name) => {
    expect(refusal(name)).toContain('1 to 64 letters (A-Z, a-z), digits, "_" and "-"');
  });

  test.each(['con', 'PRN', 'Aux', 'nul', 'COM1', 'com0', 'lpt9'])(
    'is not %s, a device of Windows',
    (name) => {
      expect(refusal(name)).toContain('Windows');
    },
  );

  test('starts with inline- only where inline dependencies are meant', () => {
    for (const name of ['inline-3f2a', 'INLINE-x', 'Inline-']) {
      expect(refusal(name)).toContain('inline dependencies');
      expect(checkName(name, { allowInline: true })).toBe(name);
    }
    expect(() => checkName('../inline-', { allowInline: true })).toThrow(PungiError);
    expect(checkName('inline')).toBe('inline');
  });

  test('clashes with the same name in other case', () => {
    expect(foldName('Ml')).toBe(foldName('mL'));
    expect(foldName('ml')).not.toBe(foldName('m-l'));
  });

  test('is a plain name of a folder whatever is tried', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 70 })), (name) => {
        try {
          checkName(name);
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_INPUT' });
          return;
        }
        expect(name).toMatch(/^[a-zA-Z0-9_][a-zA-Z0-9_-]*$/);
      }),
    );
  });
});
