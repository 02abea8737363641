import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandWords } from '../src/call/wrapped-call.js';

const table = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../tests/fixtures/command-words.json'), 'utf8'),
) as (Parameters<typeof commandWords>[0] & {
  about: string;
  arguments: Record<string, unknown>;
  words: string[];
  /** How often the words come one after another; once if not said. */
  wordsTimes?: number;
})[];

describe('the words of a command line', () => {
  test.each(table)('$about', ({ arguments: given, words, wordsTimes = 1, ...tool }) => {
    expect(commandWords(tool, given)).toEqual(Array(wordsTimes).fill(words).flat());
  });

  test('no argument is found in the prototype of the arguments', () => {
    const argv = [{ parameter: 'constructor', flag: '--constructor', takes: 'one' as const }];
    expect(commandWords({ command: [], argv, parser: 'argparse' }, {})).toEqual([]);
  });
});
