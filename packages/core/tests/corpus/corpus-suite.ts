import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Tier } from '../../src/contract/outcome.js';
import { temporaryFolder, withPungi } from '../engine/pungi.js';
import { differenceInSession, differenceOf } from './differences.js';
import type { Interpreter } from './interpreters.js';
import type { Place } from './places.js';
import type { Ending } from './plain-python.js';
import { type Compare, type Comparison, compareAll, runAllPlain } from './run-corpus.js';
import { compareInSessions } from './session-corpus.js';
import { type Snippet, variablesOf } from './snippets.js';

export const TIERS: readonly Tier[] = ['namespace', 'landlock'];
/** For all snippets of one place; with packages, also for their installation. */
const CORPUS_MS = 20 * 60_000;

interface Way {
  title: string;
  compare: Compare;
  differenceOf: typeof differenceOf;
}

const AS_RUNS: Way = { title: 'as runs', compare: compareAll, differenceOf };
/** Each snippet is one call of a session. */
export const AS_SESSIONS: Way = {
  title: 'as calls of sessions',
  compare: compareInSessions,
  differenceOf: differenceInSession,
};

/** A test for each snippet, interpreter and tier. Many run at once before the first test; each test only looks. */
export function describeCorpus(
  all: readonly Snippet[],
  interpreters: readonly Interpreter[],
  prepare: (interpreter: Interpreter) => Promise<Place>,
  tiers = TIERS,
  { title, compare, differenceOf } = AS_RUNS,
): void {
  describe.each(interpreters)(`Python $version, ${title}`, (interpreter) => {
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
        const settings = {
          ...place.settings,
          PUNGI_TIER: tier,
          ALLOWED_ENV: variablesOf(all).join(' '),
          ARTIFACT_DIR: temporaryFolder(),
        };
        const results = await withPungi(settings, (pungi) => compare(snippets, pungi, place, plain));
        for (const result of results) compared.set(result.snippet.name, result);
        printFigure(`Python ${interpreter.version}, ${tier} tier, ${title}`, results);
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
