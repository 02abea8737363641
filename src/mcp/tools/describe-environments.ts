import type { Config } from '../../config/schema.js';

const SOURCES: Record<Config['packageSources'][number], string> = {
  url: 'URLs of wheels ("name @ https://…")',
  path: 'absolute paths of wheels on the server',
  sdist: 'source distributions, which are built in a sandbox',
};

/** What a package may be, and where it comes from on this server. */
export function describePackages({ packageSources }: Config): string {
  const form = 'Requirements as pip takes them, such as "pandas" or "numpy>=2,<3".';
  const more = packageSources.map((source) => SOURCES[source]);
  const kinds =
    more.length === 0
      ? 'Wheels of the package index only: no options, URLs, paths or source distributions.'
      : `Wheels of the package index, and on this server also ${more.join('; ')}. No options.`;
  return `${form} ${kinds}`;
}

export const describeNames = () => '1 to 64 letters, digits, "_" and "-", not starting with "-".';

/** What holds for every call that waits for packages. */
export const describeInstalling = ({ packageTimeoutMs }: Config) =>
  `It may take minutes, and has a time limit of its own, ${packageTimeoutMs / 1000} s; the steps come as progress. ` +
  'All or nothing: a failure leaves the environment as it was, and says why for each package.';

/** Which packages code can import, and how to get others. */
export const describeImports = ({ defaultVenvName, autoInstall, environmentTools }: Config) =>
  [
    `It can import what is installed in its environment, by default "${defaultVenvName}": see list_packages${environmentTools ? ' and install_packages' : ''}.`,
    autoInstall
      ? 'A package that an import does not find is installed, and the code run once more.'
      : 'For a module that is missing, the error names the package to install.',
    'Or name the packages at the top of the code, and leave out venvName; an environment is made for them, and kept:\n' +
      '# /// script\n# dependencies = ["rich", "numpy>=2"]\n# ///',
  ].join('\n');
