import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { ORDINARY_USER } from './ordinary-user.js';
import type { Snippet } from './snippets.js';

/** As text: an ordinary user may not be able to enter the folder of these tests. */
const RUN_PLAIN = readFileSync(join(import.meta.dirname, 'run_plain.py'), 'utf8');

/** How a script ended, as whoever started it sees it. */
export interface Ending {
  stdout: string;
  stderr: string;
  /** The exit status, the name of a signal, or a verdict that has neither. */
  status: string;
}

/** An environment without packages, made by the standard library. */
export function makeEnvironment(python: string, folder: string): string {
  execFileSync(python, ['-m', 'venv', '--without-pip', folder]);
  return folder;
}

/** Runs each snippet with the environment's Python, outside of any sandbox. */
export async function runPlain(
  snippets: readonly Snippet[],
  environment: string,
  atOnce: number,
): Promise<Ending[]> {
  // As root, plain Python could do more than it usually can.
  const child = spawn(`${environment}/bin/python`, ['-I', '-c', RUN_PLAIN], { cwd: '/', ...ORDINARY_USER });
  child.stdin.end(JSON.stringify({ environment, atOnce, snippets }));
  const [endings, errors] = await Promise.all([
    json(child.stdout).catch(() => undefined),
    text(child.stderr),
  ]);
  if (endings === undefined) throw new Error(`run_plain.py failed: ${errors}`);
  return endings as Ending[];
}
