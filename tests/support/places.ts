import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { findInterpreter } from '../../packages/core/src/sandbox/interpreter.js';

/** A folder for whatever tests need it: helpers that several files share keep it until all tests have ended. */
export const lastingFolder = (): string => mkdtempSync(join(tmpdir(), 'pungi-tests-'));

/** A folder that is gone after the file's last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
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

/** Whether every user can reach it. */
export function isPublic(path: string): boolean {
  if (path === '/') return true;
  const { mode } = statSync(path);
  return (mode & 0o001) !== 0 && isPublic(dirname(path));
}
