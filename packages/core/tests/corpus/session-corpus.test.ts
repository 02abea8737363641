import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import { AS_SESSIONS, describeCorpus, TIERS } from './corpus-suite.js';
import { interpreters } from './interpreters.js';
import { barePlace } from './places.js';
import { readSnippets } from './snippets.js';

const quick = readSnippets().filter(({ packages, long }) => packages.length === 0 && !long);

/** The quick part, as corpus.test.ts; the soak has everything. */
describeCorpus(quick, interpreters().slice(-1), barePlace, RUNS_ALL ? TIERS : ['namespace'], AS_SESSIONS);
