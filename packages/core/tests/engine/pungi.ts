import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import { publicInterpreter, temporaryFolder } from '../../../../tests/support/places.js';
import { loadConfig, Pungi, type RunRequest } from '../../../pungi/src/index.js';
import type { Logger } from '../../src/base/logger.js';
import { expectOk } from './outcomes.js';

export { publicInterpreter, temporaryFolder } from '../../../../tests/support/places.js';
export { expectOk, verdictOf } from './outcomes.js';

export type Settings = Record<string, string>;

/** Environments of whoever runs the tests are not the tests' own. */
const NO_ENVIRONMENTS = join(tmpdir(), 'pungi-tests-have-no-environments');

/** Nothing of the tests' own environment is read: a test says all that it sets. */
export const startPungi = (settings: Settings = {}, logger?: Logger): Pungi =>
  Pungi.start(
    loadConfig({ env: { VENVS_BASE_PATH: NO_ENVIRONMENTS, AUDIT: 'false', TOOLS_DIR: 'off', ...settings } }),
    logger,
  );

/** One Pungi for the whole file, closed after its last test. */
export function sharedPungi(settings: Settings = {}): Pungi {
  const pungi = startPungi(settings);
  afterAll(() => pungi.close());
  return pungi;
}

/** The sandboxes that tests are run in; where people wait for them, the stronger one. */
export const SANDBOXES = RUNS_ALL ? (['namespace', 'landlock'] as const) : (['namespace'] as const);
type Sandbox = 'namespace' | 'landlock';
const PUNGI_PYTHON = await publicInterpreter();

/** One Pungi for the whole file in each sandbox. */
export function sharedPungis(settings: Settings = {}): Record<Sandbox, Pungi> {
  const start = (PUNGI_TIER: Sandbox) =>
    sharedPungi({ PUNGI_TIER, ...(PUNGI_TIER === 'landlock' && { PUNGI_PYTHON }), ...settings });
  return Object.fromEntries(SANDBOXES.map((tier) => [tier, start(tier)])) as Record<Sandbox, Pungi>;
}

/** A folder of the host that runs could read, and what puts files there. */
export function readableFolder() {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  const make = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
    return join(folder, path);
  };
  return { folder, make };
}

/** The callers of tests about one who must not have what is another's. */
export const ANN = { caller: { client: 'ann' } };
export const BEN = { caller: { client: 'ben' } };

/** Runs with a Pungi of its own. */
export async function withPungi<T>(settings: Settings, use: (pungi: Pungi) => Promise<T>): Promise<T> {
  const pungi = startPungi(settings);
  try {
    return await use(pungi);
  } finally {
    await pungi.close();
  }
}

/** Runs what must end well and gives back what it printed. */
export async function printed(pungi: Pungi, request: RunRequest): Promise<string> {
  const outcome = await pungi.run(request);
  expectOk(outcome);
  return outcome.stdout.text;
}

/** Collects what is logged. */
export function listeningLogger() {
  const entries: { level: string; message: string; context: Record<string, unknown> }[] = [];
  const at =
    (level: string) =>
    (message: string, context: Record<string, unknown> = {}) =>
      entries.push({ level, message, context });
  return { entries, debug: at('debug'), info: at('info'), error: at('error') };
}
