import { join } from 'node:path';
import { expect, test } from 'vitest';
import { descendantsOf } from '../../../../tests/support/processes.js';
import { until } from '../../../../tests/support/until.js';
import { PungiError } from '../../src/base/errors.js';
import { silentLogger } from '../../src/base/logger.js';
import { Packaging } from '../../src/environments/packaging/packaging.js';
import { temporaryFolder } from '../engine/pungi.js';
import { makeVenv } from './packaging/venv.js';
import { openWorld, refusal } from './world.js';

const world = await openWorld();

/** Nothing else of this file may run beside it. */
const noProcessIsLeft = () =>
  until(() => descendantsOf(process.pid).length === 0, 'no process of it is left');

/** Begins it, and returns when it waits for an index that does not answer. */
async function stuck(begin: () => Promise<unknown>): Promise<{ refused: Promise<PungiError> }> {
  const asked = world.index.requests.length;
  world.index.hang(true);
  const refused = refusal(begin());
  await until(() => world.index.requests.length > asked, 'the index is asked');
  return { refused };
}

test('closing ends what is still being chosen', async () => {
  const pungi = world.start();
  await pungi.ready();
  const { environments } = pungi;
  const { refused } = await stuck(() => environments.create({ venvName: 'unfinished', packages: ['shout'] }));
  await pungi.close();
  expect((await refused).code).toBe('CANCELLED');
  await noProcessIsLeft();
  world.index.hang(false);
});

test('closing ends the fetching of uv', async () => {
  const closing = new AbortController();
  const settings = {
    base: temporaryFolder(),
    // There is no uv beside it, and none on PATH.
    python: async () => join(await makeVenv(), 'bin/python'),
    env: { ...process.env, PATH: temporaryFolder() },
    closing: closing.signal,
  };
  const packaging = new Packaging(settings, silentLogger);
  const { refused } = await stuck(() => packaging.packager());
  closing.abort(new PungiError('CANCELLED', 'Pungi is shutting down.'));
  await packaging.settled();
  expect((await refused).code).toBe('CANCELLED');
  await noProcessIsLeft();
  world.index.hang(false);
});
