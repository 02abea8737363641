import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pungi, RunRequest } from '../../src/index.js';
import { endingOf, normalizeEnding } from './compare.js';
import { type Ending, makeEnvironment, runPlain } from './plain-python.js';
import type { Snippet } from './snippets.js';

export interface Comparison {
  snippet: Snippet;
  plain: Ending;
  inside: Ending;
  isSame: boolean;
}

/** Two cores are enough to be quick, and leave some for tests of other files. */
const AT_ONCE = 3;

/** What plain Python does with each snippet, by name, in an environment without packages. */
export async function runAllPlain(
  snippets: readonly Snippet[],
  python: string,
): Promise<Map<string, Ending>> {
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
  chmodSync(folder, 0o755);
  try {
    const environment = makeEnvironment(python, join(folder, 'env'));
    return await runAllPlainIn(snippets, environment, [[environment, '/env']]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function runAllPlainIn(
  snippets: readonly Snippet[],
  environment: string,
  places: readonly [string, string][] = [],
): Promise<Map<string, Ending>> {
  const endings = await runPlain(snippets, environment, AT_ONCE);
  return new Map(endings.map((ending, index) => [snippets[index]!.name, normalizeEnding(ending, places)]));
}

/** Runs each snippet in the sandbox and compares it with what plain Python did. */
export function compareAll(
  snippets: readonly Snippet[],
  pungi: Pungi,
  plainEndings: ReadonlyMap<string, Ending>,
  more: Partial<RunRequest> = {},
): Promise<Comparison[]> {
  return eachOf(snippets, async (snippet) => {
    const plain = plainEndings.get(snippet.name)!;
    const inside = endingOf(await pungi.run({ ...requestOf(snippet), ...more }), plain.stderr);
    const isSame =
      inside.stdout === plain.stdout && inside.stderr === plain.stderr && inside.status === plain.status;
    return { snippet, plain, inside, isSame };
  });
}

const requestOf = ({ code, argv, stdin, env, files }: Snippet): RunRequest => ({
  code,
  filename: 'main.py',
  argv,
  stdin,
  env,
  files: Object.entries(files).map(([path, text]) => ({ path, text })),
});

/** Does it for all of them, a few at once, and keeps their order. */
async function eachOf<In, Out>(all: readonly In[], use: (one: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < all.length; index = next++) results[index] = await use(all[index]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
