import { distributionFor } from '../../engine/module-names.js';
import type { ScriptLook } from '../discover/discover-script.js';

/** What has to be installed where the script runs without Pungi: what it names itself, else what its imports suggest. */
function requirementsOf({ discovery, imports }: Pick<ScriptLook, 'discovery' | 'imports'>): string[] {
  if (discovery.dependencies.length > 0) return discovery.dependencies;
  return [...new Set(imports.flatMap((module) => distributionFor(module) ?? []))].sort();
}

/** Null where nothing has to be installed. */
export function requirementsText(
  look: Pick<ScriptLook, 'discovery' | 'imports' | 'filename'>,
): string | null {
  const requirements = requirementsOf(look);
  if (requirements.length === 0) return null;
  const from =
    look.discovery.dependencies.length > 0
      ? `From the "# /// script" block of ${look.filename}.`
      : `From what ${look.filename} imports: the names of the packages are what is most likely.`;
  return `# ${from}\n${requirements.map((one) => `${one.replaceAll(/\s+/g, ' ')}\n`).join('')}`;
}
