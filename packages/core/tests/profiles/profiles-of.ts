import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PungiError } from '../../src/base/errors.js';
import { loadProfiles, type ProfileSettings } from '../../src/gate/profiles/load-profiles.js';
import type { Profiles } from '../../src/gate/profiles/profiles.js';

const SETTINGS = { defaultProfile: 'default', allowedProfiles: ['*'] };

/** The profiles of a file with this text. */
export function profilesOf(text: string | Buffer, settings: Partial<ProfileSettings> = {}): Profiles {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-profiles-'));
  const profilesFile = join(folder, 'team.yaml');
  writeFileSync(profilesFile, text);
  try {
    return loadProfiles({ ...SETTINGS, profilesFile, ...settings });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The built-in ones alone. */
export const builtIn = (settings: Partial<ProfileSettings> = {}): Profiles =>
  profilesOf('profiles: {}', settings);

/** What is said about a file that cannot be used. Anything but a PungiError is a failure of ours. */
export function refusalOf(text: string | Buffer, settings: Partial<ProfileSettings> = {}): string {
  try {
    profilesOf(text, settings);
  } catch (error) {
    if (!(error instanceof PungiError) || error.code !== 'CONFIGURATION_ERROR') throw error;
    return error.message;
  }
  throw new Error('the file was accepted');
}
