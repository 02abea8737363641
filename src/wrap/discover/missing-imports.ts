import { z } from 'zod';
import { PungiError } from '../../base/errors.js';
import type { Outcome } from '../../contract/outcome.js';
import type { RunOptions, RunRequest } from '../../contract/run.js';
import { distributionFor } from '../../engine/module-names.js';

/** A module that cannot be imported, and the package that would bring it; null: nobody knows. */
export interface MissingImport {
  module: string;
  package: string | null;
}

type Probe = (request: RunRequest, options?: RunOptions) => Promise<Outcome>;

/** Finding a top-level module imports nothing. */
const FIND = `
import importlib.util

def is_missing(name):
    try:
        return importlib.util.find_spec(name) is None
    except (ImportError, ValueError):
        return True

[name for name in context if is_missing(name)]
`;

/** Of these modules, those that an environment does not have. */
export async function missingIn(
  venvName: string | undefined,
  modules: readonly string[],
  probe: Probe,
  options: RunOptions = {},
): Promise<MissingImport[]> {
  if (modules.length === 0) return [];
  const request = { code: FIND, context: modules, ...(venvName !== undefined && { venvName }) };
  const { verdict, value } = await probe(request, options);
  const found = z.array(z.string()).safeParse(value?.json);
  if (found.success) return found.data.map(withPackage);
  if (verdict.kind === 'ok') throw new PungiError('INTERNAL_ERROR', 'The imports could not be looked up.');
  const code = 'code' in verdict ? verdict.code : 'INTERNAL_ERROR';
  throw new PungiError(code, verdict.message);
}

/** Of these modules, those that no requirement is for by its name. One may bring along what another is for. */
export function missingAmong(requirements: readonly string[], modules: readonly string[]): MissingImport[] {
  const named = new Set(requirements.map((one) => nameKey(/^[A-Za-z0-9._-]*/.exec(one.trim())![0])));
  return modules
    .map(withPackage)
    .filter(
      ({ module, package: name }) => !named.has(nameKey(module)) && !(name && named.has(nameKey(name))),
    );
}

const withPackage = (module: string): MissingImport => ({ module, package: distributionFor(module) });
const nameKey = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, '-');
