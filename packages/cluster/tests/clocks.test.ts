import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../src');

/** Certificates have dates; nothing else has. */
const WITH_DATES = ['setup/certificates.ts', 'setup/der.ts'];

test('nothing in the cluster reads the time of day: a clock that is wrong changes nothing', () => {
  // Certificates have dates.
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('setup/'),
  );
  expect(files.length).toBeGreaterThan(20);
  // Written down for people, and compared with nothing.
  const forPeople = /\b(?:at:|endedAt:|acceptedAt =) new Date\(\)\.toISOString\(\)/g;
  const readers = files.filter((name) =>
    /\bDate\b|timeOrigin/.test(readFileSync(join(SOURCE, name), 'utf8').replace(forPeople, '')),
  );
  expect(readers.filter((name) => !WITH_DATES.includes(name))).toEqual([]);
});
