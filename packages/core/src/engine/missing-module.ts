import type { Advice } from '../base/advice.js';
import type { Tier } from '../contract/outcome.js';
import { distributionOf, isStandard } from './module-names.js';

/** Where the code ran, and the advice for its caller. */
export interface HintContext {
  environment: string;
  advice: Advice;
  /** Paths of the files that were passed with the code. */
  files: readonly string[];
  /** The tier of the run; unknown if it did not run. */
  tier?: Tier | null;
  /** The profile of the run, and the hosts that it allows. */
  profile?: string | null;
  allowedHosts?: readonly string[];
}

/** The known facts about an exception. */
export interface Raised {
  type: string;
  message: string;
  /** The line of code. */
  text: string | null;
  missingModule: string | null;
  /** Whether the profile imports the module. */
  isProfileImport: boolean;
}

export interface Hint {
  /** The distribution to install; only a known one. */
  missingPackage: string | null;
  hint: string | null;
}

export const say = (hint: string | null): Hint => ({ missingPackage: null, hint });

/** Returns a hint for a module that was not found. */
export function missingModuleHint(
  { message, text, isProfileImport }: Raised,
  module: string,
  where: HintContext,
): Hint {
  const { environment, advice } = where;
  if (module === 'pip') return say(installCommandHint(text ?? '', where));
  const own = ownFile(module, where);
  if (own !== undefined) return say(own);
  const name = distributionOf(module) ?? distributionIn(module, text);
  if (name !== null) return { missingPackage: name, hint: absent(module, isProfileImport, name, where) };
  const parent = module.slice(0, module.lastIndexOf('.'));
  if (message.endsWith('is not a package'))
    return say(`'${parent}' is not a package: if a file of yours has the name of the package, rename it.`);
  if (isStandard(module)) return say(standardHint(module));
  if (module.includes('.') && !isProfileImport)
    return say(
      `"${parent}" is installed, but has no module "${module}": check the name, and the version of "${parent}".`,
    );
  const install = isMadeFor(environment) ? ADD_TO_MADE : advice.installOther(environment);
  if (isProfileImport)
    return say(`${notInstalled(module, true, environment)} If it is a package, ${install}.`);
  return say(
    `The module "${module}" is not in the environment "${environment}": if it is a file of yours, ${advice.passFile(`${module.replaceAll('.', '/')}.py`)}; if it is a package, ${install}.`,
  );
}

export const absent = (module: string, isProfileImport: boolean, name: string, where: HintContext): string =>
  `${notInstalled(module, isProfileImport, where.environment)} ${remedy(name, where)}`;

const notInstalled = (module: string, isProfileImport: boolean, environment: string) =>
  isProfileImport
    ? `The profile imports ${module} for the code, but it is not installed in the environment "${environment}".`
    : `The module "${module}" is not installed in the environment "${environment}".`;

export function remedy(name: string, { environment, advice }: HintContext): string {
  return isMadeFor(environment)
    ? `Its package is ${name}: ${ADD_TO_MADE}.`
    : `Its package is ${name}: ${advice.install(environment, [name])}`;
}

/** The fix for an environment that nobody can change. */
export const ADD_TO_MADE = 'add it to the packages of the profile, or to the dependencies of the script';

/** The environment was created for a profile or a script, and nobody can add packages to it. */
export const isMadeFor = (environment: string) => environment.startsWith('inline-');

/**
 * Without any package of google, `from google.cloud import storage` misses `google`, which does not identify the
 * package.
 */
function distributionIn(module: string, text: string | null): string | null {
  const [, from, name] = /^\s*from\s+([\w.]+)\s+import\s+(\w+)/.exec(text ?? '') ?? [];
  const [, whole] = /^\s*import\s+([\w.]+)/.exec(text ?? '') ?? [];
  const written = [`${from}.${name}`, from, whole].filter((one) => one?.startsWith(`${module}.`));
  return written.map((one) => distributionOf(one!)).find((found) => found !== null) ?? null;
}

/** Handles a file of the caller in another folder, or a package of which only some files were passed. */
function ownFile(module: string, { files, advice }: HintContext): string | undefined {
  const path = module.replaceAll('.', '/');
  const found = files.find((file) => file.endsWith(`/${path}.py`) || file.endsWith(`/${path}/__init__.py`));
  if (found !== undefined) {
    const importable = found.replace(/(?:\/__init__)?\.py$/, '').replaceAll('/', '.');
    return `The module "${module}" is among the files as "${found}": import it as ${importable}, or pass it as "${path}.py".`;
  }
  const [top] = path.split('/', 1);
  const isOwn = path !== top && files.some((file) => file.startsWith(`${top}/`));
  return isOwn
    ? `"${path}.py" is not among the passed files of "${top}": ${advice.passFile(`${path}.py`)}.`
    : undefined;
}

const WINDOWS = ['msvcrt', 'winreg', 'winsound', 'nt', 'msilib'];
const GONE: Readonly<Record<string, string>> = {
  asynchat: 'removed in Python 3.12; use asyncio',
  asyncore: 'removed in Python 3.12; use asyncio',
  cgi: 'removed in Python 3.13; use urllib.parse and email',
  crypt: 'removed in Python 3.13; use hashlib',
  distutils: 'removed in Python 3.12; use sysconfig, shutil or subprocess',
  imghdr: 'removed in Python 3.13; compare the first bytes of the file',
  imp: 'removed in Python 3.12; use importlib',
  pipes: 'removed in Python 3.13; use subprocess, and shlex.quote',
  smtpd: 'removed in Python 3.12',
  telnetlib: 'removed in Python 3.13; use socket or asyncio',
  tomllib: 'added in Python 3.11; the package tomli is the same for older versions',
};

function standardHint(module: string): string {
  const name = module.split('.', 1)[0]!.replace(/^_/, '');
  const reason = GONE[name] ?? (WINDOWS.includes(name) ? 'only there on Windows' : undefined);
  return reason === undefined
    ? `"${module}" belongs to the standard library of other versions or builds of Python than this one; no package provides it.`
    : `"${module}" belongs to the standard library, but is not in this Python: ${reason}.`;
}

/** Returns the hint for code that calls pip. */
export function installCommandHint(command: string, { environment, advice }: HintContext): string {
  const names = packagesIn(command);
  const how = isMadeFor(environment) ? `${ADD_TO_MADE}.` : advice.install(environment, names);
  return `Code cannot install packages while it runs: ${how}`;
}

const HARMLESS_OPTION =
  /^(?:-q|-qq|-U|-y|--upgrade|--quiet|--user|--yes|--no-cache-dir|--break-system-packages)$/;

/** Returns the packages that a command installs, if it contains only names. */
function packagesIn(command: string): string[] {
  const [, after = ''] = /\b(?:install|add)\b(.*)/.exec(command) ?? [];
  const words = after
    .replace(/\]?['"]? returned .*/, '')
    .split(/[\s,'"[\]()]+/)
    .filter((word) => word !== '' && !HARMLESS_OPTION.test(word));
  const names = words.map((word) => /^[A-Za-z0-9][\w.-]*(?=$|[<>=!~])/.exec(word)?.[0]);
  return names.every((name) => name !== undefined) ? names.slice(0, 10) : [];
}
