import { join } from 'node:path';
import { fetchTool } from '../../packages/core/src/environments/packaging/fetch-tool.js';
import { findUv, ownUv } from '../../packages/core/src/environments/packaging/find-uv.js';
import { findInterpreter } from '../../packages/core/src/sandbox/interpreter.js';

/** A folder that git ignores, shared by all runs of the tests. */
const base = join(import.meta.dirname, '../../.pungi-setup');

let found: Promise<string> | undefined;

/** The path of a uv: that of PATH, else one that is fetched once. The only thing that needs the real index. */
export function ensureUv(): Promise<string> {
  found ??= findOrFetch();
  return found;
}

async function findOrFetch(): Promise<string> {
  const settings = { base, python: (await findInterpreter()).path, env: process.env };
  const { uv } = await findUv(settings, undefined);
  if (uv) return uv.path;
  await fetchTool(settings, ownUv(settings));
  return (await findUv(settings, undefined)).uv!.path;
}
