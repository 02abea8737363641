import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import { describeCorpus, TIERS } from './corpus-suite.js';
import { interpreters } from './interpreters.js';
import { barePlace } from './places.js';
import { readSnippets } from './snippets.js';

/** Where versions of Python differ most, so that the oldest one is tried as well. */
const BY_VERSION = /^(errors|exit|introspection|streams)\//;
const found = interpreters();
const quick = readSnippets().filter(({ packages, long }) => packages.length === 0 && !long);

/** The quick part; where people wait for it, every eighth snippet and one tier. The soak has everything, on more interpreters. */
const chosen = RUNS_ALL ? quick : quick.filter((_, number) => number % 8 === 0);
describeCorpus(chosen, found.slice(-1), barePlace, RUNS_ALL ? TIERS : ['namespace']);
describeCorpus(
  quick.filter(({ name }) => BY_VERSION.test(name)),
  RUNS_ALL ? found.slice(0, -1).slice(0, 1) : [],
  barePlace,
  ['namespace'],
);
