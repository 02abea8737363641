import { describeCorpus } from './corpus-suite.js';
import { interpreters } from './interpreters.js';
import { barePlace } from './places.js';
import { readSnippets } from './snippets.js';

const found = interpreters();
const oldestAndNewest = found.filter((_, index) => index === 0 || index === found.length - 1);
const quick = readSnippets().filter(({ packages, long }) => packages.length === 0 && !long);

/** The standard library. The long suite adds other interpreters, packages, and snippets that take seconds. */
describeCorpus(quick, oldestAndNewest, barePlace);
