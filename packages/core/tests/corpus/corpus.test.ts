import { describeCorpus } from './corpus-suite.js';
import { interpreters } from './interpreters.js';
import { barePlace } from './places.js';
import { readSnippets } from './snippets.js';

/** Where versions of Python differ most, so that the oldest one is tried as well. */
const BY_VERSION = /^(errors|exit|introspection|streams)\//;
const found = interpreters();
const quick = readSnippets().filter(({ packages, long }) => packages.length === 0 && !long);

/** The quick part. The long suite has everything, on more interpreters. */
describeCorpus(quick, found.slice(-1), barePlace);
describeCorpus(
  quick.filter(({ name }) => BY_VERSION.test(name)),
  found.slice(0, -1).slice(0, 1),
  barePlace,
  ['namespace'],
);
