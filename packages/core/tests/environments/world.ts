import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import {
  type PackageIndex,
  sharedPackageIndex,
  type TestPackage,
} from '../../../../tests/support/package-index.js';
import { until } from '../../../../tests/support/until.js';
import { ensureUv } from '../../../../tests/support/uv.js';
import type { Pungi } from '../../../pungi/src/index.js';
import type { PungiError } from '../../src/base/errors.js';
import { silentLogger } from '../../src/base/logger.js';
import { type EnvironmentsOptions, LocalEnvironments } from '../../src/environments/environments.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { printed, type Settings, startPungi } from '../engine/pungi.js';

export interface World {
  index: PackageIndex;
  /** Where the environments of this test file are. */
  base: string;
  settings: Settings;
  /** Another server on the same folder. */
  start(settings?: Settings): Pungi;
}

/** A package index and a folder for environments of the test file's own; tools see no index but that one. */
export async function openWorld(packages?: TestPackage[]): Promise<World> {
  // Before the index takes the place of the real one, which uv itself may have to come from.
  const uv = await ensureUv();
  const index = await sharedPackageIndex(packages);
  // What installs packages inherits the server's environment, and the server is this process.
  Object.assign(process.env, index.env);
  const base = mkdtempSync(join(tmpdir(), 'pungi-environments-'));
  const settings = { VENVS_BASE_PATH: base, PUNGI_UV: uv };
  const started: Pungi[] = [];
  afterAll(async () => {
    await Promise.all(started.map((pungi) => pungi.close()));
    rmSync(base, { recursive: true, force: true });
  });
  return {
    index,
    base,
    settings,
    start(more = {}) {
      const pungi = startPungi({ ...settings, ...more });
      started.push(pungi);
      return pungi;
    },
  };
}

/** Environments without anything that runs in them. */
export function openEnvironments(
  { base, settings }: World,
  options: Partial<EnvironmentsOptions> = {},
): LocalEnvironments {
  const own = {
    base,
    defaultName: 'default',
    packageTimeoutMs: 60_000,
    packageSources: [],
    maxEnvironments: 100,
    maxEnvironmentMb: 1000,
    uv: settings['PUNGI_UV'],
  };
  const engine = { interpreter: () => findInterpreter(), isWarm: () => false, retire: async () => {} };
  const environments = new LocalEnvironments({ ...own, ...options }, engine, silentLogger);
  afterAll(() => environments.close());
  return environments;
}

/** What a promise is rejected with. */
export async function refusal(promise: Promise<unknown>): Promise<PungiError> {
  return promise.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: PungiError) => error,
  );
}

/** Prints what is installed, as the code sees it. */
export const INSTALLED = `
import importlib.metadata
for name in sorted(d.metadata["Name"] + "==" + d.version for d in importlib.metadata.distributions()): print(name)
`;

export const installedIn = async (pungi: Pungi, venvName: string): Promise<string[]> =>
  (await printed(pungi, { code: INSTALLED, venvName })).split('\n').filter((line) => line !== '');

/** What is removed loses its name at once and its files a moment later. */
export async function expectNoLeftovers({ base }: World): Promise<void> {
  expect(readdirSync(join(base, '.making'))).toEqual([]);
  await until(() => readdirSync(join(base, '.trash')).length === 0, 'the trash is emptied');
}
