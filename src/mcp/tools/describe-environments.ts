import type { Config } from '../../config/schema.js';

const SOURCES: Record<Config['packageSources'][number], string> = {
  url: 'URLs of wheels ("name @ https://…")',
  path: 'absolute paths of wheels on the server',
  sdist: 'source distributions, which are built in a sandbox',
};

/** What a package may be, and where it comes from on this server. */
export function describePackages({ packageSources }: Config): string {
  const form =
    'Requirements as pip takes them, such as "pandas", "numpy>=2,<3" or "uvicorn[standard]==0.35.0".';
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
  `This may take minutes for large packages and has a time limit of its own, ${packageTimeoutMs / 1000} s, apart from that of runs; ` +
  'steps come as progress notifications. It is all or nothing: a failure leaves the environment as it was, ' +
  'and its PACKAGE_INSTALLATION_ERROR says for each package why.';

/** Which packages code can import, and how to get others. */
export const describeImports = ({ defaultVenvName, autoInstall, environmentTools }: Config) =>
  [
    `Code runs in the environment venvName, by default "${defaultVenvName}", and can import what is installed there: see list_packages${environmentTools ? ' and install_packages' : ''}.`,
    autoInstall
      ? 'A package that an import does not find is installed, and the code run once more.'
      : 'For a module that is missing, the error names the package to install.',
    'Or let the code name its packages in a block of comments at its top, and leave out venvName:\n' +
      '# /// script\n# dependencies = ["rich", "numpy>=2"]\n# ///\n' +
      'It then runs in an environment made for exactly these, found again the next time; installing does not count against timeoutMs.',
  ].join('\n');
