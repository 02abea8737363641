import { describeCorpus } from './corpus-suite.js';
import { interpreters } from './interpreters.js';
import { readSnippets } from './snippets.js';

const found = interpreters();
const oldestAndNewest = found.filter((_, index) => index === 0 || index === found.length - 1);

/** The quick part: the standard library. The long suite adds the other interpreters, and packages. */
describeCorpus(
  readSnippets().filter(({ packages, long }) => packages.length === 0 && !long),
  oldestAndNewest,
);
