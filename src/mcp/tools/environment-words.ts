import type { EnvironmentInfo, PackageInfo, PackageReport } from '../../contract/environment.js';
import { nameKey } from '../../environments/requirements/requirement.js';

export const countOf = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** One line: `pandas2  Python 3.12.1  14 packages  153 MB  last used 2026-11-15  for the reports`. */
export function wordEnvironment(info: EnvironmentInfo): string {
  const { venvName, state, isDefault, pythonVersion, path, packageCount, sizeMb, lastUsed, description } =
    info;
  const isWhole = path !== null && state !== 'damaged';
  return [
    isDefault ? `${venvName} (default)` : venvName,
    ...(state === 'ready' ? [] : [wordState(info)]),
    ...(pythonVersion === '' ? [] : [`Python ${pythonVersion}`]),
    ...(state === 'damaged' ? [] : [countOf(packageCount, 'package')]),
    ...(isWhole ? [`${Math.round(sizeMb)} MB`] : []),
    ...(lastUsed === null ? [] : [`last used ${lastUsed.slice(0, 10)}`]),
    ...(description === '' ? [] : [description.replaceAll(/\s+/g, ' ')]),
  ].join('  ');
}

const wordState = ({ state, venvName, isDefault }: EnvironmentInfo) =>
  state === 'preparing'
    ? 'its packages are being installed'
    : `damaged: its files were changed from outside; ${isDefault ? 'delete_venv removes it' : `create_venv "${venvName}" makes it anew`}`;

export const wordPackage = ({ name, version }: PackageInfo) => `${name} ${version}`;

/** What became of each package that was asked for, and what came or went with it. */
export function wordReport({ venvName, packages, added, removed, tool, tookMs }: PackageReport): string {
  const asked = new Set(packages.map(({ package: requirement }) => projectOf(requirement)));
  const came = added.filter(({ name }) => !asked.has(nameKey(name)));
  const replaced = new Set([...asked, ...came.map(({ name }) => nameKey(name))]);
  const went = removed.filter(({ name }) => !replaced.has(nameKey(name)));
  return [
    `Environment "${venvName}" (${tool}, ${(tookMs / 1000).toFixed(1)} s):`,
    ...packages.map(({ package: requirement, status, version }) =>
      [`${requirement}: ${status}`, ...(version === null ? [] : [version])].join(', '),
    ),
    ...(came.length > 0 ? [`Also installed: ${came.map(wordPackage).join(', ')}`] : []),
    ...(went.length > 0 ? [`Also removed: ${went.map(wordPackage).join(', ')}`] : []),
  ].join('\n');
}

/** A requirement starts with its name; extras, versions and markers follow. */
const projectOf = (requirement: string) => nameKey(/^[\w.-]+/.exec(requirement)?.[0] ?? requirement);
