import { expect, test } from 'vitest';
import { preloads } from '../src/tools-folder/name-tools.js';
import type { ScriptInUse } from '../src/tools-folder/wrapped-script.js';

const script = (firstImports: string[], tools: Record<string, unknown> = {}) =>
  ({
    firstImports,
    tools: { environment: null, profile: null, dependencies: [], requiresPython: null, ...tools },
  }) as unknown as ScriptInUse;

test('scripts that run in the same place share what their workers are parked with', () => {
  const [one, two] = [script(['json', 'csv']), script(['csv', 'decimal'])];
  const preloadOf = preloads([one, two]);
  expect(preloadOf(one)).toEqual(['json', 'csv', 'decimal']);
  expect(preloadOf(two)).toBe(preloadOf(one));
});

test('scripts of other places do not', () => {
  const scripts = [
    script(['a']),
    script(['b'], { environment: 'ml' }),
    script(['c'], { profile: 'diego' }),
    script(['d'], { dependencies: ['numpy'] }),
    script(['e'], { requiresPython: '>=3.12' }),
  ];
  const preloadOf = preloads(scripts);
  expect(scripts.map((one) => preloadOf(one))).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
});

test('where an environment is named, what the script asks for itself decides nothing', () => {
  const one = script(['a'], { environment: 'ml', dependencies: ['numpy'] });
  const two = script(['b'], { environment: 'ml' });
  expect(preloads([one, two])(one)).toEqual(['a', 'b']);
});
