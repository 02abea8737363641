import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tier } from '../../src/contract/outcome.js';
import { withPungi } from '../engine/pungi.js';
import { differenceOf } from './differences.js';
import type { Interpreter } from './interpreters.js';
import type { Place } from './places.js';
import type { Ending } from './plain-python.js';
import { type Comparison, compareAll, runAllPlain } from './run-corpus.js';
import { type Snippet, variablesOf } from './snippets.js';

export const TIERS: readonly Tier[] = ['namespace', 'landlock'];
/** For all snippets of one place; with packages, also for their installation. */
const CORPUS_MS = 20 * 60_000;

/** A test for each snippet, interpreter and tier. Many run at once before the first test; each test only looks. */
export function describeCorpus(
  all: readonly Snippet[],
  interpreters: readonly Interpreter[],
  prepare: (interpreter: Interpreter) => Promise<Place>,
  tiers = TIERS,
): void {
  describe.each(interpreters)('Python $version', (interpreter) => {
    const snippets = all.filter(({ python }) => python <= interpreter.minor);
    let place: Place;
    let plain: Map<string, Ending>;
    beforeAll(async () => {
      place = await prepare(interpreter);
      plain = await runAllPlain(snippets, place);
    }, CORPUS_MS);
    afterAll(() => place?.remove());

    describe.each(tiers)('%s tier', (tier) => {
      const compared = new Map<string, Comparison>();
      beforeAll(async () => {
        const settings = { ...place.settings, PUNGI_TIER: tier, ALLOWED_ENV: variablesOf(all).join(' ') };
        const results = await withPungi(settings, (pungi) => compareAll(snippets, pungi, place, plain));
        for (const result of results) compared.set(result.snippet.name, result);
        printFigure(`Python ${interpreter.version}, ${tier} tier`, results);
      }, CORPUS_MS);

      test.each(snippets.map(({ name }) => name))('%s', (name) => {
        const { plain, inside, isSame } = compared.get(name)!;
        if (differenceOf(name, tier, interpreter.minor) === undefined) expect(inside).toEqual(plain);
        else
          expect(isSame, 'no longer differs: remove it from packages/core/tests/corpus/differences.ts').toBe(
            false,
          );
      });
    });
  });
}

function printFigure(where: string, compared: readonly Comparison[]): void {
  const same = compared.filter(({ isSame }) => isSame).length;
  const percent = ((100 * same) / compared.length).toFixed(1);
  console.log(`${where}: ${compared.length} snippets, ${same} identical to plain Python (${percent} %)`);
}
