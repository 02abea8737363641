import { type Config, isServed } from '@pungi/core/config';
import type { EnvironmentInfo, PackageInfo, PackageReport } from '@pungi/core/contract';
import { nameKey } from '@pungi/core/environments';
import { z } from 'zod';

/** An environment. The environments themselves check the name and explain what is wrong. */
export const otherVenv = () => z.string().optional().describe('Environment');

/** The environment of code. */
export const existingVenv = (config: Config) =>
  z
    .string()
    .optional()
    .describe(
      `Environment, default "${config.defaultVenvName}"${isServed(config, 'environments') ? ': see list_venvs' : ''}.`,
    );

export const namedVenv = () => z.string().describe('Its name');

export const description = () => z.string().max(2000).describe('What it is for.');

export const packages = () =>
  z.array(z.string()).min(1, 'name at least one package').max(200).describe('Their names');

const SOURCES: Record<Config['packageSources'][number], string> = {
  url: 'URLs of wheels ("name @ https://…")',
  path: 'absolute paths of wheels on the server',
  sdist: 'source distributions, which are built in a sandbox',
};

/** Describes what a package may be, and where it comes from on this server. */
export function describePackages({ packageSources }: Config): string {
  const form = 'As for pip: "numpy>=2,<3".';
  const more = packageSources.map((source) => SOURCES[source]);
  const kinds =
    more.length === 0
      ? 'Wheels of the package index only.'
      : `Wheels of the package index, on this server also ${more.join('; ')}.`;
  return `${form} ${kinds}`;
}

/** Describes every call that waits for packages. */
export const describeInstalling = ({ packageTimeoutMs }: Config) =>
  `All or nothing, within ${packageTimeoutMs / 1000} s.`;

/** Describes which packages code can import, and how to get others. */
export function describeImports(config: Config): string {
  const { defaultVenvName, autoInstall, environmentTools } = config;
  const tools = ['list_packages', ...(environmentTools ? ['install_packages'] : [])].join(', ');
  return [
    `It can import what its environment has, default "${defaultVenvName}"${isServed(config, 'packages') ? ` (${tools})` : ''}. ` +
      (autoInstall
        ? 'If an import fails, its package is installed and the code runs again.'
        : 'If a module is missing, the error names the package to install.'),
    'Or name packages at its top, without venvName:\n' +
      '# /// script\n# dependencies = ["rich", "numpy>=2"]\n# ///',
  ].join('\n');
}

export const countOf = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

/** One line: `pandas2  Python 3.12.1  14 packages  153 MB  last used 2026-11-15  for the reports`. */
export function formatEnvironment(info: EnvironmentInfo): string {
  const { venvName, state, isDefault, pythonVersion, created, packageCount, sizeMb, lastUsed, description } =
    info;
  const isWhole = created !== null && state !== 'damaged';
  const { warmOn = [] } = info;
  return [
    isDefault ? `${venvName} (default)` : venvName,
    ...(state === 'ready' ? [] : [formatState(info)]),
    ...(pythonVersion === '' ? [] : [`Python ${pythonVersion}`]),
    ...(state === 'damaged' ? [] : [countOf(packageCount, 'package')]),
    ...(isWhole ? [`${Math.round(sizeMb)} MB`] : []),
    ...(warmOn.length === 0 ? [] : [`warm on ${warmOn.join(', ')}`]),
    ...(lastUsed === null ? [] : [`last used ${lastUsed.slice(0, 10)}`]),
    ...(description === '' ? [] : [description.replaceAll(/\s+/g, ' ')]),
  ].join('  ');
}

const formatState = ({ state, venvName, isDefault }: EnvironmentInfo) =>
  state === 'preparing'
    ? 'its packages are being installed'
    : `damaged: its files were changed from outside; ${isDefault ? 'delete_venv removes it' : `create_venv "${venvName}" creates it again`}`;

export const formatPackage = ({ name, version }: PackageInfo) => `${name} ${version}`;

/** Formats what happened to each requested package, and to its dependencies. */
export function formatReport({ venvName, packages, added, removed, tool, tookMs }: PackageReport): string {
  const asked = new Set(packages.map(({ package: requirement }) => projectOf(requirement)));
  const came = added.filter(({ name }) => !asked.has(nameKey(name)));
  const replaced = new Set([...asked, ...came.map(({ name }) => nameKey(name))]);
  const went = removed.filter(({ name }) => !replaced.has(nameKey(name)));
  return [
    `Environment "${venvName}" (${tool}, ${(tookMs / 1000).toFixed(1)} s):`,
    ...packages.map(({ package: requirement, status, version }) =>
      [`${requirement}: ${status}`, ...(version === null ? [] : [version])].join(', '),
    ),
    ...(came.length > 0 ? [`Also installed: ${came.map(formatPackage).join(', ')}`] : []),
    ...(went.length > 0 ? [`Also removed: ${went.map(formatPackage).join(', ')}`] : []),
  ].join('\n');
}

/** A requirement starts with its name; extras, versions and markers follow. */
const projectOf = (requirement: string) => nameKey(/^[\w.-]+/.exec(requirement)?.[0] ?? requirement);
