import { readFile } from 'node:fs/promises';
import { PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import type { EnvironmentLock } from '../contract/audit.js';
import type { PackageInfo } from '../contract/environment.js';
import type { EnvironmentRef } from '../engine/environment-ref.js';
import { GenerationGone } from '../runtime/fork-server.js';
import type { Pin } from './packaging/packager.js';
import { nameKey } from './requirements/requirement.js';
import type { Metadata } from './store/metadata.js';
import { damaged, type Store } from './store/store.js';

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

interface Remembered {
  generation: string;
  lock: Promise<EnvironmentLock | null>;
}

/**
 * The lock files of environments, as text and hash. They contain only what code can observe, so a description does
 * not change them, and a clone has the same. The newest of each environment is cached.
 */
export class EnvironmentLocks {
  #remembered = new Map<string, Remembered>();

  constructor(private readonly store: Store) {}

  /**
   * Returns the lock of a run's environment. Null for the plain interpreter, or for a private environment of another
   * user. Throws GenerationGone if the environment was changed since.
   */
  async of(
    ref: Pick<EnvironmentRef, 'environment' | 'generation'> | undefined,
  ): Promise<EnvironmentLock | null> {
    if (ref === undefined) return null;
    const known = this.#remembered.get(ref.environment);
    if (known?.generation === ref.generation) return known.lock;
    const metadata = await this.store.find(ref.environment);
    if (metadata?.generation !== ref.generation) throw this.#gone(ref.environment, ref.generation);
    return this.ofWhole(metadata);
  }

  ofWhole(metadata: Metadata): Promise<EnvironmentLock | null> {
    const { name, generation } = metadata;
    const known = this.#remembered.get(name);
    if (known?.generation === generation) return known.lock;
    const lock = this.#read(metadata);
    this.#remembered.set(name, { generation, lock });
    lock.catch(() => this.#remembered.delete(name));
    return lock;
  }

  async #read({ name, generation, python, inherit }: Metadata): Promise<EnvironmentLock | null> {
    try {
      const { pins } = parseLockFile(await readFile(this.store.layout.lockFile(name, generation), 'utf8'));
      const about = { pythonVersion: minorOf(python.version), ...(inherit && { inherit }) };
      const text = renderLockFile(pins, about);
      return { sha256: sha256(text), text };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') return null;
      const now = await this.store.find(name);
      throw now?.generation === generation ? damaged(name) : this.#gone(name, generation);
    }
  }

  #gone(name: string, generation: string): GenerationGone {
    return new GenerationGone(this.store.layout.venv(name, generation));
  }
}
