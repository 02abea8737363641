import type { RunRequest } from '../../../pungi/src/index.js';
import { endingOf, withoutNumbers } from './compare.js';
import type { Place } from './places.js';
import { type Compare, comparison, eachOf, requestOf } from './run-corpus.js';
import type { Snippet } from './snippets.js';

/** Snippets of these folders change little but variables: a few dozen share a session. */
const QUIET = /^(classes|data|dates|formatting|numbers|structures|text)\//;
/** Those among them that change what others see, or see what others change. */
const NOISY = ['dates/zoneinfo_and_locale', 'numbers/decimals_and_fractions'];
const MOST_TOGETHER = 30;
const FIRST = '__import__("sys").before = 1';
const LAST = '__import__("sys").before';

/** Each snippet is a later call of a session, which must answer afterwards, unless the snippet ended it. */
export const compareInSessions: Compare = async (snippets, pungi, place, plainEndings) => {
  const groups = groupsOf(snippets);
  const compared = await eachOf(groups, async (group) => {
    const { session } = await pungi.run(firstRequest(place));
    const results = [];
    for (const snippet of group) {
      const plain = plainEndings.get(snippet.name)!;
      const outcome = await pungi.run({ ...requestOf(snippet), session: session!.id });
      const inside = endingOf(withoutNumbers(outcome), plain.stderr);
      const answers =
        outcome.session?.alive !== true ||
        (await pungi.run({ code: LAST, session: session!.id })).value?.json === 1;
      results.push(
        comparison(snippet, plain, answers ? inside : { ...inside, status: 'the session does not answer' }),
      );
    }
    if (pungi.sessions().some(({ id }) => id === session!.id)) pungi.endSession(session!.id);
    return results;
  });
  return compared.flat();
};

const firstRequest = ({ request }: Place): RunRequest => ({ code: FIRST, session: 'new', ...request });

function groupsOf(snippets: readonly Snippet[]): Snippet[][] {
  const isQuiet = ({ name, env, files }: Snippet) =>
    QUIET.test(name) &&
    !NOISY.includes(name) &&
    Object.keys(env).length === 0 &&
    Object.keys(files).length === 0;
  const quiet = snippets.filter(isQuiet);
  const together = Array.from({ length: Math.ceil(quiet.length / MOST_TOGETHER) }, (_, number) =>
    quiet.slice(number * MOST_TOGETHER, (number + 1) * MOST_TOGETHER),
  );
  return [...together, ...snippets.filter((snippet) => !isQuiet(snippet)).map((one) => [one])];
}
