import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { faultsOf } from '../../src/base/issue-text.js';

const Item = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string() }),
]);
const faults = (value: unknown) => Item.safeParse(value).error?.issues.flatMap(faultsOf);

describe('a union whose branches are told apart by a word', () => {
  test('has the faults of the branch that was meant', () => {
    expect(faults({ type: 'image', data: 1 })).toEqual([{ path: ['data'], reason: 'must be a text' }]);
  });
  test.each([{ type: 'song' }, {}])('names the words where there is none of them: %o', (value) => {
    expect(faults(value)).toEqual([{ path: ['type'], reason: 'must be one of text, image' }]);
  });
  test('is no text', () => {
    expect(faults('a')).toEqual([{ path: [], reason: 'must be a map' }]);
  });
});
