import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import type { PungiError } from '../../src/base/errors.js';
import { findBlocks, readInlineMetadata } from '../../src/environments/inline.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';

const refusal = (code: string): string => {
  try {
    readInlineMetadata(code);
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_INPUT', details: { issues: [expect.any(String)] } });
    return (error as PungiError).message;
  }
  throw new Error('It was read.');
};

describe('inline metadata', () => {
  test('is read from its block, wherever that is', () => {
    const code = py`
      #!/usr/bin/env python
      import sys

      # /// script
      # requires-python = ">=3.11"
      # dependencies = [
      #   "requests<3",
      #   "rich",  # colours
      # ]
      #
      # [tool.uv]
      # exclude-newer = 2024-01-01T00:00:00Z
      # ///

      print("hello")
    `;
    const metadata = { dependencies: ['requests<3', 'rich'], requiresPython: '>=3.11' };
    expect(readInlineMetadata(code)).toEqual(metadata);
    expect(readInlineMetadata(code.replaceAll('\n', '\r\n'))).toEqual(metadata);
    expect(readInlineMetadata(code.replaceAll('\n', '\r'))).toEqual(metadata);
  });

  test('may leave everything out, and hold what is not known here', () => {
    expect(readInlineMetadata('# /// script\n#\n# ///')).toEqual({ dependencies: [], requiresPython: null });
    expect(readInlineMetadata('# /// script\n# new = 1\n# __proto__ = {dependencies = 7}\n# ///')).toEqual({
      dependencies: [],
      requiresPython: null,
    });
  });

  test('keeps lines that look like its end, up to the last one', () => {
    const code = '# /// script\n# dependencies = ["a"]\n# embedded = """\n# ///\n# """\n# ///\n';
    expect(readInlineMetadata(code)).toEqual({ dependencies: ['a'], requiresPython: null });
  });

  test.each([
    ['there is none', 'print("# dependencies")'],
    ['its block is not closed', '# /// script\n# dependencies = ["a"]\nprint()\n# ///\n'],
    ['its block is empty', '# /// script\n# ///\n'],
    ['a line within has no space after #', '# /// script\n#dependencies = ["a"]\n# ///\n'],
    ['its opening line goes on', '# /// script \n# dependencies = ["a"]\n# ///\n'],
    ['its opening line is indented', ' # /// script\n# dependencies = ["a"]\n# ///\n'],
    ['it is within a block of another kind', '# /// other\n# /// script\n# dependencies = ["a"]\n# ///\n'],
    ['it is of another kind', '# /// scripts\n# dependencies = ["a"]\n# ///\n'],
  ])('is null where %s', (_, code) => {
    expect(readInlineMetadata(code)).toBeNull();
  });

  test('is refused where it is given twice', () => {
    const block = '# /// script\n# dependencies = []\n# ///\n';
    expect(refusal(`${block}\n${block}`)).toContain('more than one "# /// script" block: at line 1 and 5');
  });

  test.each([
    ['# dependencies = ["a"', 3, 'comma'],
    ['# dependencies = ["a"]\n# dependencies = []', 4, 'redefine'],
    ['# what is this', 3, 'key'],
  ])('is refused where it is not TOML, with the line in the script: %s', (content, line, what) => {
    const message = refusal(`import sys\n# /// script\n${content}\n# ///\n`);
    expect(message).toContain(`at line ${line} of the script`);
    expect(message).toContain(what);
    expect(message).not.toContain('\n');
  });

  test.each([
    ['dependencies = "requests"', 'dependencies is not a list'],
    ['dependencies = ["requests", 3]', 'dependencies is not a list'],
    ['dependencies = {requests = "*"}', 'dependencies is not a list'],
    ['requires-python = 3.11', 'requires-python is not a text'],
    ['requires-python = ["3.11"]', 'requires-python is not a text'],
  ])('is refused where it holds something else: %s', (content, sentence) => {
    expect(refusal(`# /// script\n# ${content}\n# ///\n`)).toContain(sentence);
  });

  test('is refused where it is nested without end', () => {
    expect(refusal(`# /// script\n# x = ${'['.repeat(2000)}\n# ///\n`)).toContain('nested');
  });

  test('takes no longer where blocks are opened over and over', () => {
    // The PEP's own expression would look through all that follows once for each of these lines.
    const code = '# /// script\n'.repeat(200_000);
    expect(readInlineMetadata(code)).toBeNull();
  });

  test('is found where the regular expression of PEP 723 finds it', async () => {
    const { path } = await findInterpreter();
    const line = fc.constantFrom(
      '# /// script',
      '# ///',
      '#',
      '# a = 1',
      '#x',
      '',
      '# /// other',
      '# ///  ',
      'x = 1',
      '# /// script x',
    );
    const codes = fc
      .sample(fc.tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom('', '\n')), {
        numRuns: 4000,
        seed: 723,
      })
      .map(([lines, end]) => `${lines.join('\n')}${end}`);
    const theirs: string[][] = JSON.parse(
      execFileSync(path, ['-I', '-c', REFERENCE], { input: JSON.stringify(codes) }).toString(),
    );
    expect(new Set(theirs.map((blocks) => blocks.length))).toEqual(new Set([0, 1, 2]));
    const ours = codes.map((code) => findBlocks(code, 'script').map(({ content }) => `${content}\n`));
    expect(codes.filter((_, index) => ours[index]!.join('|') !== theirs[index]!.join('|'))).toEqual([]);
  });
});

/** The reference implementation in the PEP, up to reading TOML. */
const REFERENCE = py`
  import json
  import re
  import sys

  REGEX = r'(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$'

  def content(match):
      return ''.join(
          line[2:] if line.startswith('# ') else line[1:]
          for line in match.group('content').splitlines(keepends=True)
      )

  def read(script):
      return [content(match) for match in re.finditer(REGEX, script) if match.group('type') == 'script']

  json.dump([read(script) for script in json.load(sys.stdin)], sys.stdout)
`;
