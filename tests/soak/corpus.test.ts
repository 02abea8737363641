import { describe } from 'vitest';
import { AS_SESSIONS, describeCorpus, TIERS } from '../../packages/core/tests/corpus/corpus-suite.js';
import { type Interpreter, interpreters } from '../../packages/core/tests/corpus/interpreters.js';
import { barePlace, packagesPlace } from '../../packages/core/tests/corpus/places.js';
import { packagesOf, readSnippets } from '../../packages/core/tests/corpus/snippets.js';

/** 3.11 is the interpreter of many systems. */
const COMMON = 11;
const found = interpreters();
const chosen = found.filter(
  ({ minor }, index) => index === 0 || index === found.length - 1 || minor === COMMON,
);

/** torch is some gigabytes: PUNGI_TEST_TORCH=1 tries it as well. */
const isWanted = (name: string) => name !== 'torch' || process.env['PUNGI_TEST_TORCH'] === '1';
const snippets = readSnippets().filter(({ packages }) => packages.every(isWanted));
const withPackages = snippets.filter(({ packages }) => packages.length > 0);

describe('standard library', () => {
  describeCorpus(
    snippets.filter(({ packages }) => packages.length === 0),
    chosen,
    barePlace,
  );
});

describe('standard library, in sessions', () => {
  describeCorpus(
    snippets.filter(({ packages }) => packages.length === 0),
    chosen,
    barePlace,
    TIERS,
    AS_SESSIONS,
  );
});

/** Needs the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')('packages of the real index', () => {
  const place = (interpreter: Interpreter) => packagesPlace(interpreter, packagesOf(withPackages));
  describeCorpus(withPackages, chosen, place);
  describeCorpus(withPackages, chosen, place, TIERS, AS_SESSIONS);
});
