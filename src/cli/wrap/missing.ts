import { countText } from '../../base/terminal.js';
import type { MissingImport } from '../../wrap/discover/missing-imports.js';

/** What is missing, and what to do about it. Nothing where nothing is. */
export function missingLines(missing: readonly MissingImport[], environment: string | null): string[] {
  if (missing.length === 0) return [];
  const packages = [...new Set(missing.flatMap(({ package: name }) => name ?? []))];
  const names = missing.map(({ module, package: name }) =>
    name === null || name === module.toLowerCase().replaceAll('_', '-')
      ? module
      : `${module} (of the package ${name})`,
  );
  const what = `${countText(missing.length, 'import')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  if (environment === null) {
    return [
      `${what} among the dependencies that the script names: ${names.join(', ')}`,
      'Unless another of them brings it along, add it to the "# /// script" block.',
    ];
  }
  const advice = missing.every(({ package: name }) => name !== null)
    ? [`Install with: pungi env install ${environment} ${packages.join(' ')}`]
    : [`Install their packages with: pungi env install ${environment} ${[...packages, '…'].join(' ')}`];
  return [`${what} in the environment "${environment}": ${names.join(', ')}`, ...advice];
}
