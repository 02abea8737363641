import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  evilSource,
  PACKAGES,
  sharedPackageIndex,
  type TestPackage,
} from '../../../../tests/support/package-index.js';
import { inJail } from '../../src/environments/packaging/build-jail.js';
import { printed, temporaryFolder } from '../engine/pungi.js';
import { openWorld, refusal } from './world.js';

/** A place of the attacker's own, which a package of the index names by its address. */
const elsewhere = await sharedPackageIndex([
  evilSource({ write: ['~/evilsource-was-here'] }),
  { name: 'apple', version: '2.0', files: { 'apple.py': "__version__ = 'EVIL'\n" } },
]);
const fileOf = (name: string) => elsewhere.url.replace('/simple', `/files/${name}`);
const LURE: TestPackage = {
  name: 'lure',
  version: '1.0',
  requires: [`evilsource @ ${fileOf('evilsource/evilsource-1.0.tar.gz')}`],
};
const world = await openWorld([...PACKAGES, LURE]);

test('a package that needs a source by its address is refused, and nothing of it runs', async () => {
  const home = temporaryFolder();
  process.env['HOME'] = home;
  const pungi = world.start();
  const error = await refusal(pungi.environments.create({ venvName: 'lured', packages: ['lure'] }));
  expect(error.code).toBe('PACKAGE_INSTALLATION_ERROR');
  expect(existsSync(join(home, 'evilsource-was-here'))).toBe(false);
  expect(elsewhere.requests.filter((path) => path.endsWith('.tar.gz'))).toEqual([]);
});

test('scripts whose packages differ by their address only do not share an environment', async () => {
  const wheel = join(temporaryFolder(), 'apple-2.0-py3-none-any.whl');
  const answer = await fetch(fileOf('apple/apple-2.0-py3-none-any.whl'));
  writeFileSync(wheel, Buffer.from(await answer.arrayBuffer()));
  const pungi = world.start({ PACKAGE_SOURCES: 'path' });
  const script = (dependency: string) =>
    `# /// script\n# dependencies = ["${dependency}"]\n# ///\nimport apple; print(apple.__version__)`;
  expect(await printed(pungi, { code: script(`apple @ file://${wheel}`) })).toBe('EVIL\n');
  expect(await printed(pungi, { code: script('apple==2.0') })).toBe('2.0\n');
});

test('builds see no secret of their tool', () => {
  const secrets = {
    UV_INDEX_PRIVATE_PASSWORD: 's',
    UV_GITHUB_TOKEN: 's',
    PIP_INDEX_URL: 'https://u:s@x',
    NETRC: 's',
  };
  expect(inJail({ ...secrets, PATH: '/bin', UV_CONSTRAINT: '/c.txt' })).toEqual({
    PATH: '/bin',
    UV_CONSTRAINT: '/c.txt',
  });
});
