import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PrintedVerdicts } from '../../src/validate/printed-verdicts.js';

/** The lines at which verdicts were found, with the output in pieces of this size. */
function linesOf(text: string, size = Number.POSITIVE_INFINITY): number[] {
  const bytes = Buffer.from(text);
  const verdicts = new PrintedVerdicts();
  for (let at = 0; at < bytes.length; at += size) verdicts.write(bytes.subarray(at, at + size));
  return verdicts.finish().map(({ line }) => line);
}

const NO = '{"valid": false}';
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

const ROWS: [what: string, text: string, lines: number[]][] = [
  ['alone', NO, [1]],
  ['with a line end', `${NO}\n`, [1]],
  ['after text', `hello\n${NO}\n`, [2]],
  ['before text', `${NO}\nall is well\n{"valid": true}\n3\n`, [1]],
  ['before text in its line', `${NO} done\n`, [1]],
  ['indented', `   \t${NO}`, [1]],
  ['with a line end of Windows', `a\r\n${NO}\r\n`, [2]],
  ['twice', `${NO}\n${NO}\n`, [1, 2]],
  ['second in its line', `{"valid": true} ${NO}`, [1]],
  ['glued to another', `{"valid": true}${NO}`, [1]],
  ['over several lines', '{\n  "valid": false,\n  "errors": [\n    "a"\n  ]\n}\n', [1]],
  ['with valid as the last key', '{"a": {"b": [1, {"c": null}]}, "valid": false}', [1]],
  ['with valid twice', '{"valid": false, "valid": true}', [1]],
  ['with an escaped key', '{"\\u0076alid": false}', [1]],
  ['with NaN', '{"score": NaN, "low": -Infinity, "valid": false}', [1]],
  ['with a long number', `{"n": ${'7'.repeat(5000)}, "valid": false}`, [1]],
  ['with texts that look like signs', '{"a": "}]{[\\"\\\\", "valid": false}', [1]],
  ['deeply nested', `{"x": ${deep(30_000)}, "valid": false}`, [1]],
  ['deeply nested with texts', `{"x": ${'['.repeat(30_000)}"]]]"${']'.repeat(30_000)}, "valid": false}`, [1]],
  ['with 5 MB before the key', `{"data": "${'x'.repeat(5_000_000)}", "valid": false}`, [1]],
  ['after what only begins like JSON', `{"a": \n${NO}\n`, [2]],
  ['after an object that is not closed', `{"a": 1\n${NO}\n`, [2]],
  ['after a list that is not closed', `[1, 2,\n${NO}\n`, [2]],
  ['after a text that is not closed', `{"a": "b\n${NO}\n`, [2]],
  ['after many that are not closed', `${'{"a":[\n'.repeat(3000)}${NO}\n`, [3001]],
  ['after a level in brackets', `[INFO] begun\n${NO}\n`, [2]],
  ['after a Python dict', `{'valid': True}\n${NO}`, [2]],
  ['non-ASCII around it', `grün 🌍\n{"name": "世界", "valid": false}`, [2]],
  // no verdicts
  ['true', '{"valid": true}', []],
  ['a text', '{"valid": "false"}', []],
  ['null', '{"valid": null}', []],
  ['zero', '{"valid": 0}', []],
  ['nested', '{"checks": {"valid": false}}', []],
  ['nested in a list', '{"checks": [{"valid": false}]}', []],
  ['nested on a line of its own', '{"checks": [\n{"valid": false}\n]}', []],
  ['in a list', '[{"valid": false}]', []],
  ['in a list over several lines', '[\n{"valid": false}\n]\n', []],
  ['errors alone', '{"errors": ["a"], "success": false}', []],
  ['inside of text', 'the server said {"valid": false}\n', []],
  ['inside of a text', '{"said": "{\\"valid\\": false}"}', []],
  ['another key', '{"Valid": false, "is_valid": false, "valid ": false}', []],
  ['not closed', '{"valid": false', []],
  ['not JSON', "{'valid': False}\n{valid: false}\n", []],
  ['a word that is longer', '{"valid": falsehood}', []],
  ['nothing', '', []],
];

describe('an object that says "valid": false', () => {
  test.each(ROWS)('%s', (_, text, lines) => {
    expect(linesOf(text)).toEqual(lines);
    if (text.length < 10_000) for (const size of [1, 2, 3, 7]) expect(linesOf(text, size)).toEqual(lines);
  });

  test('is found in any JSON object, however it is written', () => {
    const key = fc.oneof(fc.constant('valid'), fc.string());
    const value = fc.oneof(fc.constant(false), fc.jsonValue());
    fc.assert(
      fc.property(
        fc.dictionary(key, value),
        fc.nat(4),
        fc.integer({ min: 1, max: 50 }),
        (object, indent, size) => {
          const isInvalid = Object.hasOwn(object, 'valid') && object['valid'] === false;
          const text = `before\n${JSON.stringify(object, null, indent)}\nafter\n`;
          expect(linesOf(text, size)).toEqual(isInvalid ? [2] : []);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('is there to be read, unless it is very large', () => {
    const verdicts = new PrintedVerdicts();
    verdicts.write(Buffer.from('a\n{"valid": false,\n "mess'));
    verdicts.write(Buffer.from('age": "too small"}\nb'));
    verdicts.write(Buffer.from(`\n{"valid": false, "data": "${'x'.repeat(300_000)}"}`));
    expect(verdicts.finish()).toEqual([
      { line: 2, value: { valid: false, message: 'too small' } },
      { line: 5 },
    ]);
  });

  test('is kept no more than a hundred times', () => {
    expect(linesOf(`${NO}\n`.repeat(50_000))).toHaveLength(100);
  });
});
