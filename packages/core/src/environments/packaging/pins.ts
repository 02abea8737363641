import { PungiError } from '../../base/errors.js';
import type { Pin } from './packager.js';

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

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/**
 * Requirements are parsed and rendered before this. It is the last check before a tool reads them: none may be
 * mistaken for an option, a comment, a second line, or a variable.
 */
export function checkRequirements(requirements: readonly string[]): void {
  for (const text of requirements) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    const isPlain = /^[A-Za-z0-9]/.test(text) && !/[\u0000-\u001f\u007f]|\$\{|\s#|\\$/.test(text);
    if (!isPlain) throw refused(text);
  }
}

function checkName(name: string): void {
  if (!NAME.test(name)) throw refused(name);
}

const refused = (text: string) =>
  new PungiError('INVALID_INPUT', `${JSON.stringify(text)} cannot be given to a package tool.`, {
    issues: [text],
  });
