import { distributionFor } from '../../engine/module-names.js';
import type { ScriptLook } from '../discover/discover-script.js';

/** Null where nothing has to be installed. */
export function requirementsText({
  discovery: { dependencies },
  imports,
  filename,
}: Pick<ScriptLook, 'discovery' | 'imports' | 'filename'>): string | null {
  if (dependencies.length > 0) return render(`From the "# /// script" block of ${filename}.`, dependencies);
  const known = [...new Set(imports.flatMap((module) => distributionFor(module) ?? []))].sort();
  const unknown = imports.filter((module) => distributionFor(module) === null);
  if (imports.length === 0) return null;
  const rest = unknown.length === 0 ? '' : ` Add the packages of: ${unknown.join(', ')}.`;
  return render(`From what ${filename} imports.${rest}`, known);
}

const render = (from: string, requirements: readonly string[]) =>
  `# ${from}\n${requirements.map((one) => `${one.replaceAll(/\s+/g, ' ')}\n`).join('')}`;
