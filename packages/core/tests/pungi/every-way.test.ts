import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedPungi, temporaryFolder } from '../engine/pungi.js';

const folder = temporaryFolder();
const profiles = join(folder, 'profiles.yaml');
const script = join(folder, 'script.py');
writeFileSync(profiles, 'profiles: {narrow: {allowed_imports: [math]}, hidden: {}}\n');
writeFileSync(script, 'import os');
const pungi = sharedPungi({
  PROFILES_FILE: profiles,
  DEFAULT_PROFILE: 'narrow',
  ALLOWED_PROFILES: 'narrow',
  SCRIPT_ROOTS: folder,
});

const CODE = 'import os';
const INLINE = `# /// script\n# dependencies = []\n# ///\n${CODE}`;

test.each([
  ['code', () => pungi.run({ code: CODE })],
  ['a file', () => pungi.run({ file: script })],
  ['a script compiled before', async () => pungi.runCompiled(await pungi.precompile(CODE))],
  ['a script with inline metadata', () => pungi.run({ code: INLINE })],
  [
    'a module that is handed over',
    () => pungi.run({ code: 'import mine', files: [{ path: 'mine.py', text: CODE }] }),
  ],
])('%s is held to the default profile', async (_, run) => {
  expect((await run()).verdict).toMatchObject({ kind: 'denied', profile: 'narrow' });
});

test.each(['hidden', 'default', 'strategic'])('nobody gets out of it by naming "%s"', async (profile) => {
  const run = await pungi.run({ code: CODE, profile });
  const compiled = await pungi.runCompiled(await pungi.precompile(CODE), { profile });
  for (const { verdict } of [run, compiled]) expect(verdict).toMatchObject({ kind: 'denied' });
});
