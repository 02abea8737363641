import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, Limits } from '../../src/contract/limits.js';
import { ProfileDefinition } from '../../src/contract/profile.js';
import { checkProfiles } from '../../src/gate/profiles/check-profiles.js';
import { builtIn } from './profiles-of.js';

const page = readFileSync(resolve(import.meta.dirname, '../../../../docs/profiles.md'), 'utf8');
const cells = page
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.split('|').map((cell) => cell.replaceAll('`', '').trim()));
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const folder = mkdtempSync(join(tmpdir(), 'pungi-documented-'));
mkdirSync(join(folder, 'sales'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('docs/profiles.md', () => {
  const files = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map((match) => match[1]!);

  test('shows files', () => expect(files).toHaveLength(3));

  test.each(files.map((text, index) => [index + 1, text] as const))(
    'shows in file %i nothing to find fault with',
    (_, text) => {
      const file = join(folder, 'profiles.yaml');
      writeFileSync(file, text);
      const { errors, warnings, profiles } = checkProfiles(
        file,
        { defaultProfile: 'default', allowedProfiles: ['*'] },
        DEFAULT_LIMITS,
      );
      expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
      expect(profiles.length).toBeGreaterThan(0);
    },
  );

  test.each(Object.keys(ProfileDefinition.shape).map(snake))('says what %s does', (key) => {
    expect(cells.filter(([, name]) => name === key)).toHaveLength(1);
  });

  test('names every limit', () => {
    const row = cells.find(([, name]) => name === 'limits')!;
    expect(row[2]!.split(', ')).toEqual(Object.keys(Limits.shape).map(snake));
  });

  test('tells of each persona what it is', () => {
    for (const { name, templateVars, focus, defaultImports } of builtIn().personas) {
      const row = cells.find(([, first]) => first === name);
      expect(row?.slice(2, 5)).toEqual([templateVars['role'], focus, defaultImports.join(', ')]);
    }
  });

  test('says that scope is not security', () => expect(page).toContain('**Scope is not security.**'));
});
