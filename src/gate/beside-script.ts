import { dirname, join } from 'node:path';
import type { Outcome } from '../contract/outcome.js';
import { candidates, isBelow, realOnes } from './script-file.js';

/** A script on disk, and the folders that may be looked into. */
export interface ScriptPlace {
  file: string;
  roots: string[];
}

/** A module that lies beside the script is a file of the caller's, whatever packages are called like it. */
export async function pointToSibling(
  outcome: Outcome,
  place: ScriptPlace,
  handOver: (path: string) => string,
): Promise<Outcome> {
  const { verdict } = outcome;
  if (verdict.kind !== 'python-error' || verdict.exception.missingModule === null) return outcome;
  const path = await moduleBeside(place, verdict.exception.missingModule);
  if (path === undefined) return outcome;
  const hint = `"${path}" lies beside the script, but a run sees only the files that come with it: ${handOver(path)}.`;
  const exception = { ...verdict.exception, missingPackage: null, hint };
  return { ...outcome, verdict: { ...verdict, exception } };
}

/** The module's file, from the folder of the script. */
async function moduleBeside({ file, roots }: ScriptPlace, module: string): Promise<string | undefined> {
  if (!/^\w+(?:\.\w+){0,9}$/.test(module)) return undefined;
  const path = module.replaceAll('.', '/');
  const realRoots = await realOnes(roots);
  for (const folder of candidates(file, roots).map((one) => dirname(one))) {
    for (const beside of [`${path}.py`, `${path}/__init__.py`]) {
      const [real] = await realOnes([join(folder, beside)]);
      if (real !== undefined && isBelow(real, realRoots)) return beside;
    }
  }
  return undefined;
}
