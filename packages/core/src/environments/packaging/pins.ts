import { PungiError } from '../../base/errors.js';
import type { Pin } from './packager.js';
import { checkName, checkRequirements } from './requirement-text.js';

const VERSION = /^[A-Za-z0-9][A-Za-z0-9.!+_-]*$/;
const HASH = /^[a-z0-9]+:[0-9a-f]+$/;
const PINNED = /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:==\s*([^\s;]+)|@\s*(\S+))\s*(?:;.*)?$/;

/** Renders requirements with hashes, as pip and uv read them. */
export function renderPins(pins: readonly Pin[]): string {
  return pins.map((pin) => `${renderPin(pin)}\n`).join('');
}

function renderPin({ name, version, hashes, url }: Pin): string {
  checkName(name);
  const requirement = url === undefined ? `${name}==${version}` : `${name} @ ${url}`;
  checkRequirements([requirement]);
  const isExact = url !== undefined || VERSION.test(version);
  if (!isExact || hashes.length === 0 || !hashes.every((hash) => HASH.test(hash))) {
    throw new PungiError('INVALID_INPUT', `${name} is not pinned by a version and hashes.`);
  }
  return [requirement, ...hashes.map((hash) => `--hash=${hash}`)].join(' ');
}

/** Parses the output of `uv pip compile --generate-hashes`. */
export function parsePins(text: string): Pin[] {
  const lines = text.replace(/\\\n/g, ' ').split('\n');
  const pins = lines.filter((line) => !/^\s*(#|--|$)/.test(line)).map(parsePin);
  const twice = pins.find((pin, index) => pins.findIndex(({ name }) => name === pin.name) !== index);
  if (twice) throw unreadable(`${twice.name} is listed twice`);
  return pins;
}

function parsePin(line: string): Pin {
  const [requirement = '', ...hashes] = line.split(/\s+--hash=/).map((part) => part.trim());
  const [, name, version, url] = PINNED.exec(requirement) ?? [];
  if (name === undefined) throw unreadable(`"${requirement}" is not a pinned requirement`);
  if (hashes.length === 0) throw withoutHash(name);
  return url === undefined
    ? { name, version: version!, hashes }
    : { name, version: versionIn(url), hashes, url };
}

/** Returns the version in the file name of a wheel. */
function versionIn(url: string): string {
  const file = decodeURIComponent(new URL(url, 'file:///').pathname.split('/').at(-1) ?? '');
  return file.endsWith('.whl') ? (file.split('-')[1] ?? '') : '';
}

const unreadable = (why: string) =>
  new PungiError('INTERNAL_ERROR', `The answer of uv cannot be read: ${why}.`);

const withoutHash = (name: string) =>
  new PungiError(
    'PACKAGE_INSTALLATION_ERROR',
    `The index gives no hash for ${name}, so it cannot be pinned.`,
  );
