import { PungiError } from '../base/errors.js';
import type { PackageInfo } from '../contract/environment.js';
import type { Pin } from './packaging/packager.js';
import { nameKey } from './requirements/requirement.js';

export interface About {
  description?: string;
  pythonVersion?: string;
  requested?: string[];
  /** The environment sees its interpreter's packages, which no lock file names. */
  inherit?: boolean;
}

interface LockFile {
  about: About;
  pins: Pin[];
}

/** A hundred times the size of a large environment's lock file. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

const HEADER = '# A lock file of Pungi: pungi env import NAME FILE; uv and pip can read it as well.';
const INHERITED =
  "# The interpreter's own packages, seen by runs because of SYSTEM_PACKAGES, and not part of this file:";
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9.!+_-]*$/;
const HASH = /^sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})$/;

/** Renders requirements with hashes, which pip and uv can install, and the other facts as a comment. */
export function renderLockFile(
  pins: readonly Pin[],
  about: About = {},
  /** Packages of the interpreter, for information: they are not installed from the file. */
  inherited: readonly PackageInfo[] = [],
): string {
  const lines = pins.map(({ name, version, url, hashes }) =>
    [
      url === undefined ? `${name}==${version}` : `${name} @ ${url}`,
      ...hashes.map((hash) => `    --hash=${hash}`),
    ].join(' \\\n'),
  );
  const shown = inherited.map(({ name, version }) => `#   ${name}==${version}`);
  if (shown.length > 0) shown.unshift(INHERITED);
  return [HEADER, `# pungi: ${JSON.stringify(about)}`, ...shown, '', ...lines, ''].join('\n');
}

/** Accepts only pins with hashes: a lock file is data, and options in it would be instructions. */
export function parseLockFile(text: string): LockFile {
  if (text.length > MAX_CHARACTERS) throw invalid(`it is longer than ${MAX_CHARACTERS} characters`);
  const logical = text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
  const pins = logical
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .map(parsePin);
  const seen = new Set<string>();
  for (const { name } of pins) {
    const key = nameKey(name);
    if (seen.has(key)) throw invalid(`${key} is named twice`);
    seen.add(key);
  }
  return { about: readAbout(text), pins };
}

function parsePin(line: string): Pin {
  const [requirement = '', ...rest] = line.split(/\s+(?=--)/);
  const hashes = rest.map((word) => word.replace(/^--hash=/, ''));
  const wrong = rest.find((word, index) => !word.startsWith('--hash=') || !HASH.test(hashes[index]!));
  if (wrong !== undefined) throw invalid(`"${wrong}" is not a hash`);
  if (hashes.length === 0) throw invalid(`"${requirement}" has no hash`);
  const [name = '', source = ''] = requirement.split(/\s*(?:==|@)\s*/);
  const isUrl = /^\S+ @ (?:https?|file):\/\/\S+$/.test(requirement);
  if (!NAME.test(name) || !(isUrl || (requirement === `${name}==${source}` && VERSION.test(source)))) {
    throw invalid(`"${requirement}" is not a package with its version, such as "six==1.17.0"`);
  }
  return isUrl
    ? { name, version: '', url: requirement.slice(name.length + 3), hashes }
    : { name, version: source, hashes };
}

function readAbout(text: string): About {
  const line = /^# pungi: (\{.*\})\r?$/m.exec(text)?.[1];
  if (line === undefined) return {};
  try {
    const { description, pythonVersion, requested, inherit } = JSON.parse(line) as Record<string, unknown>;
    return {
      ...(typeof description === 'string' && { description }),
      ...(typeof pythonVersion === 'string' && /^3\.\d+$/.test(pythonVersion) && { pythonVersion }),
      ...(Array.isArray(requested) && requested.every((one) => typeof one === 'string') && { requested }),
      ...(inherit === true && { inherit }),
    };
  } catch {
    throw invalid('its comment about the environment is not JSON');
  }
}

/** Returns the version of Python as a lock file names it: "3.12" for "3.12.1". */
export const minorOf = (pythonVersion: string): string => pythonVersion.split('.').slice(0, 2).join('.');

const invalid = (why: string) =>
  new PungiError('INVALID_INPUT', `This is not a lock file that can be used: ${why}.`);
