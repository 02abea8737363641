import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { temporaryFolder } from '../../../tests/support/places.js';
import { loadSpecification } from '../../harness/src/spec/load.js';
import { runPlanned } from '../src/test/run-planned.js';
import { SHOP } from './test-place.js';

const folder = temporaryFolder();
const trail = join(folder, 'trail');

/** A specification whose one test is judged by a script that needs more than callers are granted. */
function specification() {
  const file = join(folder, 'large.test.yaml');
  const source = 'import json\nlen(bytearray(150_000_000)) == 150_000_000';
  const text = stringify({
    name: 'large',
    server: { command: process.execPath, args: [SHOP] },
    tools: [
      {
        name: 'add',
        tests: [{ name: 'adds', input: { a: 1, b: 2 }, validation_scripts: ['is large'] }],
      },
    ],
    validation_scripts: [{ name: 'is large', source, timeout_ms: 60_000 }],
    script_config: { security: { memory_limit_mb: 300 } },
  });
  writeFileSync(file, text);
  return loadSpecification(file, { environment: {} }).loaded!;
}

async function failures() {
  const { signal } = new AbortController();
  const chosen = [{ loaded: specification(), isWhole: true }];
  const { suites } = await runPlanned(chosen, {}, { signal, live: undefined, ci: null });
  return suites.flatMap(({ results }) => results.flatMap((result) => result.failures));
}

afterEach(() => vi.unstubAllEnvs());

test('what is configured for callers does not narrow the scripts of tests, nor are they in the trail', async () => {
  const profiles = join(folder, 'profiles.yaml');
  writeFileSync(profiles, 'profiles: {narrow: {allowed_imports: [math]}}\n');
  const settings = {
    PROFILES_FILE: profiles,
    DEFAULT_PROFILE: 'narrow',
    ALLOWED_PROFILES: 'narrow',
    MAX_MEMORY_MB: '64',
    EXECUTION_TIMEOUT_MS: '1',
    MAX_CPU_MS: '1',
    AUDIT_DIR: trail,
    VENVS_BASE_PATH: join(folder, 'environments'),
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  expect(await failures()).toEqual([]);
  expect(existsSync(trail)).toBe(false);
  vi.stubEnv('AUDIT', 'true');
  expect(await failures()).toEqual([]);
  expect(existsSync(join(trail, 'audit.db'))).toBe(true);
});
