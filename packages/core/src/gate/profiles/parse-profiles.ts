import { resolve } from 'node:path';
import { type Fault, faultsOf, similarName } from '../../base/issue-text.js';
import type { YamlPath, YamlText } from '../../config/yaml-file.js';
import { Limits } from '../../contract/limits.js';
import { ProfileDefinition, WorkspaceFolder } from '../../contract/profile.js';
import { keyText, type Locate, type ProfileProblem } from './inherit.js';

export interface ParsedProfiles {
  definitions: Map<string, ProfileDefinition>;
  problems: ProfileProblem[];
  locate: Locate;
}

const FORM = 'it must contain "profiles:" with a map from names to rules';
const KEYS: Record<string, readonly string[]> = {
  '': Object.keys(ProfileDefinition.shape),
  limits: Object.keys(Limits.shape),
  network: ['allow'],
  workspace: Object.keys(WorkspaceFolder.shape),
};

/** Parses the profiles of a file, each on its own. Folders are relative to the folder of the file. */
export function parseProfiles(yaml: YamlText, folder: string): ParsedProfiles {
  const lineOf = (path: YamlPath) => yaml.positionOf(path, { atKey: true })?.line ?? null;
  const problems: ProfileProblem[] = yaml.problems.map(({ position, problem }) => ({
    profile: null,
    key: null,
    line: position?.line ?? null,
    problem,
  }));
  const definitions = new Map<string, ProfileDefinition>();
  const spellings = new Map<string, Written>();
  const locate: Locate = (name, path) => {
    const written = (spellings.get(name) ?? documented)(path);
    return { key: keyText(written), line: lineOf(['profiles', name, ...written]) };
  };
  if (problems.length > 0) return { definitions, problems, locate };
  const ofFile = (key: string | null, problem: string) =>
    problems.push({ profile: null, key, line: key === null ? null : lineOf([key]), problem });
  const top = asMap(yaml.data);
  if (top === undefined || !Object.hasOwn(top, 'profiles')) ofFile(null, FORM);
  for (const key of Object.keys(top ?? {})) {
    if (key !== 'profiles') ofFile(key, `is not known; the file may contain only "profiles"`);
  }
  const named = top?.['profiles'];
  const entries = asMap(named);
  if (entries === undefined && named !== undefined && named !== null)
    ofFile('profiles', `must be a map; ${FORM}`);
  for (const [name, raw] of Object.entries(entries ?? {})) {
    const { definition, found, written } = parseOne(name, raw ?? {});
    if (written !== undefined) spellings.set(name, written);
    problems.push(...found.map(({ path, problem }) => ({ profile: name, ...locate(name, path), problem })));
    definitions.set(name, withFolder(definition, folder));
  }
  return { definitions, problems, locate };
}

interface Found {
  path: readonly (string | number)[];
  problem: string;
}

interface ParsedOne {
  definition: ProfileDefinition;
  found: Found[];
  written?: Written;
}

/**
 * Parses one profile. An invalid one is still returned, so that others can extend it and its other rules are checked.
 */
function parseOne(name: string, raw: unknown): ParsedOne {
  const found: Found[] = [];
  const badName = nameProblem(name);
  if (badName !== undefined) found.push({ path: [], problem: badName });
  if (asMap(raw) === undefined) {
    found.push({ path: [], problem: `must be a map of rules; it is ${shown(raw)}` });
    return { definition: {}, found };
  }
  const spelled = spellKeys(raw);
  const { written } = spelled;
  found.push(...spelled.problems);
  const parsed = ProfileDefinition.safeParse(spelled.value);
  if (parsed.success) return { definition: parsed.data, found, written };
  const faults = parsed.error.issues.flatMap((issue) => faultsOf(issue));
  found.push(...faults.map((fault) => ({ path: fault.path.map(plain), problem: explain(fault, spelled) })));
  const wrong = new Set(faults.map(({ path }) => String(path[0])));
  const sound = Object.entries(spelled.value as object).filter(([key]) => !wrong.has(key));
  const rest = ProfileDefinition.safeParse(Object.fromEntries(sound));
  return { definition: rest.data ?? {}, found, written };
}

const plain = (part: PropertyKey) => (typeof part === 'symbol' ? String(part) : part);

function explain({ path, reason, isUnknownKey }: Fault, { value }: Spelled): string {
  if (isUnknownKey) {
    const known = KEYS[path.length === 1 ? '' : String(path[0])] ?? [];
    const meant = similarName(String(path.at(-1)), known);
    if (meant !== undefined) return `is not known; did you mean "${snakeCase(meant)}"?`;
    return `is not known; known are ${known.map(snakeCase).join(', ')}`;
  }
  let given = value;
  for (const part of path) given = (given as Record<PropertyKey, unknown>)?.[part];
  return given === undefined ? `is missing; it ${reason}` : `${reason}; it is ${shown(given)}`;
}

const asMap = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value)
    ? (value as Record<string, unknown>)
    : undefined;

function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function withFolder(definition: ProfileDefinition, folder: string): ProfileDefinition {
  const { workspace } = definition;
  if (workspace === undefined) return definition;
  return {
    ...definition,
    workspace: workspace.map(({ name, path }) => ({ name, path: resolve(folder, path) })),
  };
}

const PROFILE_NAME_FORM = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/**
 * Returns why this is not a valid profile name, or undefined. Profile names follow the rules of environment names.
 */
export function nameProblem(name: string): string | undefined {
  if (PROFILE_NAME_FORM.test(name)) return undefined;
  return 'the name of a profile is 1 to 64 letters (A-Z, a-z), digits, "_" and "-", and does not start with "-"';
}

/** Keys below these are chosen by the user and not converted. */
const OWN_NAMES = ['templateVars'];

interface KeyProblem {
  path: (string | number)[];
  problem: string;
}

/** A value with camelCase keys, and a function that maps paths back to the written keys. */
interface Spelled {
  value: unknown;
  problems: KeyProblem[];
  /** Returns the path as written in the file, or as documented if it is not there. */
  written: Written;
}

type Written = (path: readonly PropertyKey[]) => (string | number)[];

const snakeCase = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const camelCase = (key: string) =>
  key.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Converts every key: cache_ttl becomes cacheTtl. A key in both spellings is a problem. */
function spellKeys(value: unknown): Spelled {
  const problems: KeyProblem[] = [];
  const spelling = new Map<string, string>();
  const spell = (one: unknown, path: readonly (string | number)[]): unknown => {
    if (Array.isArray(one)) return one.map((item, index) => spell(item, [...path, index]));
    if (typeof one !== 'object' || one === null) return one;
    const spelled = new Map<string, unknown>();
    for (const [key, member] of Object.entries(one)) {
      const name = camelCase(key);
      const place = [...path, name];
      if (spelled.has(name)) {
        const other = spelling.get(keyOf(place)) ?? name;
        problems.push({ path: place, problem: `is given twice, as "${other}" and as "${key}"` });
      }
      spelling.set(keyOf(place), key);
      spelled.set(name, OWN_NAMES.includes(name) ? member : spell(member, place));
    }
    return Object.fromEntries(spelled);
  };
  return {
    value: spell(value, []),
    problems,
    written: (path) =>
      documented(path).map((part, index) => spelling.get(keyOf(path.slice(0, index + 1))) ?? part),
  };
}

/** Returns a path with the documented spelling. */
export const documented: Written = (path) =>
  path.map((part, index) => {
    if (typeof part !== 'string') return typeof part === 'symbol' ? String(part) : part;
    return OWN_NAMES.includes(String(path[index - 1])) ? part : snakeCase(part);
  });

const keyOf = (path: readonly PropertyKey[]) => path.map(String).join('\0');
