import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { findInterpreter } from '../../../src/sandbox/interpreter.js';

const run = promisify(execFile);

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-packaging-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const interpreter = async (): Promise<string> => (await findInterpreter()).path;

/** An empty virtual environment of the interpreter. */
export async function makeVenv(...options: string[]): Promise<string> {
  const venv = join(temporaryFolder(), 'venv');
  await run(await interpreter(), ['-m', 'venv', '--without-pip', ...options, venv]);
  return venv;
}

export function siteOf(venv: string): string {
  const python = readdirSync(join(venv, 'lib')).find((name) => name.startsWith('python'))!;
  return join(venv, 'lib', python, 'site-packages');
}

/** What is installed, as `name==version`. */
export const installedIn = (venv: string): string[] =>
  readdirSync(siteOf(venv))
    .filter((name) => name.endsWith('.dist-info'))
    .map((name) => name.replace('.dist-info', '').replace('-', '=='))
    .sort();
