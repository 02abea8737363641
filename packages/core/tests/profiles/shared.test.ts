import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/places.js';
import type { ProfileDefinition } from '../../src/contract/profile.js';
import { connectShared, loadProfiles } from '../../src/gate/profiles/load-profiles.js';

const profilesFile = join(temporaryFolder(), 'profiles.yaml');
const SETTINGS = { profilesFile, defaultProfile: 'default', allowedProfiles: ['*'] };
const shared = (definitions: Record<string, ProfileDefinition>) =>
  connectShared(new Map(Object.entries(definitions)));
const load = (definitions: Record<string, ProfileDefinition> = {}, settings = SETTINGS) =>
  loadProfiles(settings, shared(definitions).chains);

writeFileSync(
  profilesFile,
  'profiles: { own: { blocked_imports: [json] }, diego: { focus: mine }, narrow: { extends: own } }',
);

test('a shared profile takes the place of one in the file, and of none that extends it there', () => {
  const profiles = load({ own: { blockedImports: ['csv'] } });
  expect(profiles.get('own')).toMatchObject({ origin: 'cluster', blockedImports: ['csv'] });
  expect(profiles.get('narrow')).toMatchObject({ blockedImports: ['json'] });
});

test('built-in profiles follow a shared one that they extend, unless the file has its own', () => {
  const profiles = load({ strategic: { blockedImports: ['csv'] } });
  expect(profiles.get('alvaro').blockedImports).toEqual(['csv']);
  expect(profiles.get('diego')).toMatchObject({ focus: 'mine', blockedImports: [] });
});

test('a profile that a run was given stays as it is when others are shared', () => {
  const profiles = load({ default: { blockedImports: ['csv'] } });
  const before = profiles.get('default');
  profiles.share(shared({ default: { blockedImports: ['wave'] } }).chains);
  expect(before.blockedImports).toEqual(['csv']);
  expect(profiles.get('default').blockedImports).toEqual(['wave']);
  profiles.share(new Map());
  expect(profiles.get('default').blockedImports).toEqual([]);
});

test('settings may name shared profiles', () => {
  const settings = { ...SETTINGS, defaultProfile: 'team' };
  expect(load({ team: {} }, settings).get('team').origin).toBe('cluster');
  expect(() => load({}, settings)).toThrow('names the profile "team", which does not exist');
});

test.each<[ProfileDefinition, string, string]>([
  [{ extends: 'own' }, 'a', 'there is no profile "own" to extend'],
  [{ extends: 'a' }, 'a', 'in a circle'],
  [{ workspace: [{ name: 'x', path: '/srv' }] }, 'a', 'a cluster has no folders with data'],
  [{ network: { allow: ['http://x'] } }, 'a', 'x'],
  [{}, '-a', 'the name of a profile is'],
])('%j as "%s" is not shared', (definition, name, problem) => {
  expect(shared({ [name]: definition }).problems).toEqual([
    expect.objectContaining({ profile: name, problem: expect.stringContaining(problem) }),
  ]);
});
