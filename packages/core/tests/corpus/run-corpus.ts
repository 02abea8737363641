import type { Pungi, RunRequest } from '../../../pungi/src/index.js';
import { endingOf, normalizeEnding } from './compare.js';
import type { Place } from './places.js';
import { type Ending, runPlain } from './plain-python.js';
import type { Snippet } from './snippets.js';

/** A way to run snippets inside. */
export type Compare = (
  snippets: readonly Snippet[],
  pungi: Pungi,
  place: Place,
  plainEndings: ReadonlyMap<string, Ending>,
) => Promise<Comparison[]>;

export interface Comparison {
  snippet: Snippet;
  plain: Ending;
  inside: Ending;
  isSame: boolean;
}

/** Enough to be quick on two cores; tests of other files need some of them. */
const AT_ONCE = 3;

/** What plain Python does with each snippet, by name. */
export async function runAllPlain(snippets: readonly Snippet[], place: Place): Promise<Map<string, Ending>> {
  const endings = await runPlain(snippets, place.environment, AT_ONCE);
  return new Map(
    endings.map((ending, index) => [snippets[index]!.name, normalizeEnding(ending, place.names)]),
  );
}

/** Runs each snippet in the sandbox and compares it with what plain Python did. */
export const compareAll: Compare = (snippets, pungi, place, plainEndings) =>
  eachOf(snippets, async (snippet) => {
    const plain = plainEndings.get(snippet.name)!;
    const outcome = await pungi.run({ ...requestOf(snippet), ...place.request });
    return comparison(snippet, plain, endingOf(outcome, plain.stderr));
  });

export const comparison = (snippet: Snippet, plain: Ending, inside: Ending): Comparison => ({
  snippet,
  plain,
  inside,
  isSame: inside.stdout === plain.stdout && inside.stderr === plain.stderr && inside.status === plain.status,
});

export const requestOf = ({ code, argv, stdin, env, files }: Snippet): RunRequest => ({
  code,
  filename: 'main.py',
  argv,
  stdin,
  env,
  files: Object.entries(files).map(([path, text]) => ({ path, text })),
});

/** Does it for all of them, a few at once, and keeps their order. */
export async function eachOf<In, Out>(all: readonly In[], use: (one: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < all.length; index = next++) results[index] = await use(all[index]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
