import { join } from 'node:path';
import { installOwnUv } from '../../src/environments/packaging/own-uv.js';
import { surveyTools } from '../../src/environments/packaging/survey.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';

/** A folder that git ignores, shared by all runs of the tests. */
const base = join(import.meta.dirname, '../../.pungi-setup');

let found: Promise<string> | undefined;

/** The path of a uv: that of PATH, else one that is installed once. The only thing that needs the real index. */
export function ensureUv(): Promise<string> {
  found ??= findOrInstall();
  return found;
}

async function findOrInstall(): Promise<string> {
  const settings = { base, python: (await findInterpreter()).path, env: process.env };
  const { uv } = await surveyTools(settings, undefined);
  if (uv) return uv.path;
  await installOwnUv(settings);
  return (await surveyTools(settings, undefined)).uv!.path;
}
