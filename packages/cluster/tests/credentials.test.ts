import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { makeKeyPair, natsCredentials, signerOf, verifierOf, writeCredentials } from '../src/credentials.js';
import { needToken, needTokens } from '../src/protocol/subjects.js';

const folder = temporaryFolder();
const place = (name: string) => join(folder, name);

test('what a front end signs, a worker that names its key opens, for that subject only', () => {
  const { seed, publicKey } = makeKeyPair();
  writeCredentials(place('front'), { signing: seed });
  writeCredentials(place('worker'), { frontEnds: `# the only one\n${publicKey}\n` });
  const signed = signerOf(place('front')).sign('a.b', Buffer.from('content'));
  const verifier = verifierOf(place('worker'));
  expect(verifier.open('a.b', signed)?.toString()).toBe('content');
  expect(verifier.open('a.c', signed)).toBeUndefined();
  for (const at of signed.keys()) {
    const changed = Buffer.from(signed);
    changed[at]! ^= 1;
    expect(verifier.open('a.b', changed)).toBeUndefined();
  }
  expect(verifier.open('a.b', signed.subarray(0, 100))).toBeUndefined();
});

test.each([
  [
    'a folder that is missing',
    () => signerOf(place('nowhere')),
    /nowhere.signing\.nk cannot be used: there is no such file/,
  ],
  [
    'a folder that is missing, before anybody connects',
    () => natsCredentials(place('nowhere')),
    /There is no folder .*nowhere: name the credentials with --creds/,
  ],
  [
    'a worker without front ends',
    () => verifierOf(place('empty')),
    /front-ends\.txt cannot be used: it names no front end/,
  ],
  [
    'a key that others can read',
    () => signerOf(place('open')),
    /signing\.nk cannot be used: others can read it/,
  ],
  [
    'a seed that is none',
    () => signerOf(place('bad')),
    /signing\.nk cannot be used: it is not the seed of an nkey/,
  ],
  ['a public key that is none', () => verifierOf(place('bad')), /is not an nkey/],
])('%s is refused with a sentence', (_, read, sentence) => {
  writeCredentials(place('empty'), { frontEnds: '# nobody' });
  writeCredentials(place('open'), { signing: makeKeyPair().seed });
  chmodSync(join(place('open'), 'signing.nk'), 0o644);
  writeCredentials(place('bad'), { signing: 'SUAB', frontEnds: 'UABC' });
  expect(read).toThrow(sentence);
});

test('a folder without a NATS user connects without one', () => {
  writeCredentials(place('plain'), { signing: makeKeyPair().seed });
  expect(natsCredentials(place('plain'))).toEqual({});
  writeFileSync(join(place('plain'), 'ca.pem'), '');
  expect(natsCredentials(place('plain'))).toEqual({ caFile: join(place('plain'), 'ca.pem') });
});

test('a worker meets every need that is a part of its labels, in whatever order they are named', () => {
  const met = needTokens({ gpu: 'true', zone: 'a' });
  expect(new Set(met).size).toBe(4);
  for (const need of [{}, { gpu: 'true' }, { zone: 'a', gpu: 'true' }])
    expect(met).toContain(needToken(need));
  for (const need of [{ gpu: 'false' }, { zone: 'b' }, { arm: 'true' }])
    expect(met).not.toContain(needToken(need));
});
