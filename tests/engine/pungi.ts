import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import type { Logger } from '../../src/base/logger.js';
import {
  loadConfig,
  type Outcome,
  Pungi,
  type RunRequest,
  type Verdict,
  type VerdictKind,
} from '../../src/index.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';

export type Settings = Record<string, string>;

/** Environments of whoever runs the tests are not the tests' own. */
const NO_ENVIRONMENTS = join(tmpdir(), 'pungi-tests-have-no-environments');

/** Nothing of the tests' own environment is read: a test says all that it sets. */
export const startPungi = (settings: Settings = {}, logger?: Logger): Pungi =>
  Pungi.start(loadConfig({ env: { VENVS_BASE_PATH: NO_ENVIRONMENTS, ...settings } }), logger);

/** One Pungi for the whole file, closed after its last test. */
export function sharedPungi(settings: Settings = {}): Pungi {
  const pungi = startPungi(settings);
  afterAll(() => pungi.close());
  return pungi;
}

/** Runs with a Pungi of its own. */
export async function withPungi<T>(settings: Settings, use: (pungi: Pungi) => Promise<T>): Promise<T> {
  const pungi = startPungi(settings);
  try {
    return await use(pungi);
  } finally {
    await pungi.close();
  }
}

/** A folder that is gone after the file's last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs what must end well and gives back what it printed. */
export async function printed(pungi: Pungi, request: RunRequest): Promise<string> {
  const outcome = await pungi.run(request);
  expectOk(outcome);
  return outcome.stdout.text;
}

export function expectOk(outcome: Outcome): void {
  expect(outcome.verdict, outcome.stderr.text).toEqual({ kind: 'ok' });
}

/** The verdict, as the one of the closed list that it must be. */
export function verdictOf<Kind extends VerdictKind>(
  { verdict, stderr }: Outcome,
  kind: Kind,
): Extract<Verdict, { kind: Kind }> {
  expect(verdict.kind, `${JSON.stringify(verdict)}\n${stderr.text}`).toBe(kind);
  return verdict as Extract<Verdict, { kind: Kind }>;
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

/**
 * An interpreter that every user can read: as root, the landlock tier runs under another identity, which cannot
 * enter root's home. Empty where the machine has none.
 */
export async function publicInterpreter(): Promise<string> {
  const found = await findInterpreter(undefined, { env: { PATH: '/usr/local/bin:/usr/bin' } }).catch(
    () => undefined,
  );
  return found?.path ?? '';
}
