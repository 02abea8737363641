import { expect, onTestFinished, test } from 'vitest';
import { startPackageIndex } from '../../../../../tests/support/package-index.js';
import type { PackagingOptions } from '../../../src/environments/packaging/packager.js';
import { failureOf, makePackager } from './make-packager.js';
import { installedIn, interpreter, makeVenv, temporaryFolder } from './venv.js';

const options: PackagingOptions = { timeoutMs: 60_000, sources: [] };

async function setUp() {
  const index = await startPackageIndex();
  onTestFinished(() => index.stop().catch(() => {}));
  const packager = await makePackager(temporaryFolder(), { ...process.env, ...index.env });
  const python = await interpreter();
  return {
    index,
    resolve: (requirements: string[], more = {}) =>
      packager.resolve({ python, requirements, known: [] }, { ...options, ...more }),
    async install(pins: Awaited<ReturnType<typeof packager.resolve>>, more = {}) {
      const venv = await makeVenv();
      await packager.installPinned({ python, venv }, pins, { ...options, ...more });
      return installedIn(venv);
    },
  };
}

test('without a network uv installs what is cached, and says so', async () => {
  const { index, resolve, install } = await setUp();
  await install(await resolve(['cherry']));
  await index.stop();
  const steps: string[] = [];
  const pins = await resolve(['cherry'], { onStep: (step: string) => steps.push(step) });
  expect(steps.join()).toMatch(/No network .*using what is cached/);
  expect(await install(pins)).toEqual(['apple==1.1', 'cherry==1.0']);
});

test('without a network uv tells what is not in the cache', async () => {
  const { index, resolve, install } = await setUp();
  const pins = await resolve(['cherry']);
  await index.stop();
  const unknown = await failureOf(resolve(['cherry', 'pthed']));
  expect(unknown.code).toBe('PACKAGE_INSTALLATION_ERROR');
  expect(unknown.message).toMatch(/index cannot be reached.+not in the cache: pthed\.$/);
  expect(unknown.details).toMatchObject({ missing: ['pthed'], unreachable: [new URL(index.url).host] });
  // They were resolved, not downloaded.
  const unfetched = await failureOf(install(pins));
  expect(unfetched.message).toMatch(/index cannot be reached.+not in the cache: (apple==1\.1|cherry==1\.0)/);
});
