import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Pungi } from '../../src/index.js';
import { type Settings, startPungi } from '../engine/pungi.js';
import { differenceOf, PENDING } from './differences.js';
import { type Interpreter, publish } from './interpreters.js';
import type { Ending } from './plain-python.js';
import { type Comparison, compareAll, runAllPlain } from './run-corpus.js';
import { type Snippet, variablesOf } from './snippets.js';

export const TIERS = ['namespace', 'landlock'] as const;
const CORPUS_MS = 10 * 60_000;

/** A test for each snippet, tier and interpreter. */
export function describeCorpus(
  all: readonly Snippet[],
  interpreters: readonly Interpreter[],
  tiers = TIERS,
): void {
  describe.each(interpreters)('Python $version', (interpreter) => {
    const snippets = all.filter(({ python }) => python <= interpreter.minor);
    let published: ReturnType<typeof publish>;
    let plain: Map<string, Ending>;
    beforeAll(async () => {
      published = publish(interpreter);
      plain = await runAllPlain(snippets, published.path);
    }, CORPUS_MS);
    afterAll(() => published?.remove());

    describe.each(tiers)('%s tier', (tier) => {
      const compared = new Map<string, Comparison>();
      beforeAll(async () => {
        const settings = {
          PUNGI_PYTHON: published.path,
          PUNGI_TIER: tier,
          ALLOWED_ENV: variablesOf(all).join(' '),
        };
        for (const one of await inPungi(settings, (pungi) => compareAll(snippets, pungi, plain)))
          compared.set(one.snippet.name, one);
        printFigure(`Python ${interpreter.version}, ${tier} tier`, [...compared.values()]);
      }, CORPUS_MS);

      test.each(snippets.map(({ name }) => name))('%s', (name) => {
        const { plain, inside, isSame } = compared.get(name)!;
        if (PENDING.has(name)) return;
        if (differenceOf(name, tier, interpreter.minor) === undefined) expect(inside).toEqual(plain);
        else expect(isSame, 'no longer differs: remove it from tests/corpus/differences.ts').toBe(false);
      });

      test('what is pending still differs', () => {
        const done = [...compared.values()].filter((one) => one.isSame && PENDING.has(one.snippet.name));
        for (const { snippet } of done)
          console.warn(`${snippet.name} is no longer pending in the ${tier} tier`);
      });
    });
  });
}

export async function inPungi<T>(settings: Settings, use: (pungi: Pungi) => Promise<T>): Promise<T> {
  const pungi = startPungi(settings);
  try {
    return await use(pungi);
  } finally {
    await pungi.close();
  }
}

export function printFigure(where: string, compared: readonly Comparison[]): void {
  const same = compared.filter(({ isSame }) => isSame).length;
  const percent = ((100 * same) / compared.length).toFixed(1);
  console.log(`${where}: ${compared.length} snippets, ${same} identical to plain Python (${percent} %)`);
}
