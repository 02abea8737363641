import { resolve } from 'node:path';
import { type Fault, faultsOf } from '../../base/issue-text.js';
import { similarName } from '../../base/similar-name.js';
import type { YamlPath, YamlText } from '../../config/yaml-file.js';
import { Limits } from '../../contract/limits.js';
import { ProfileDefinition, WorkspaceFolder } from '../../contract/profile.js';
import { keyText, type Locate, type ProfileProblem } from './problem.js';
import { documented, type Spelled, snakeCase, spellKeys, type Written } from './written-keys.js';

interface ParsedProfiles {
  definitions: Map<string, ProfileDefinition>;
  problems: ProfileProblem[];
  locate: Locate;
}

const FORM = 'it must hold "profiles:" with a map from names to rules';
const KEYS: Record<string, readonly string[]> = {
  '': Object.keys(ProfileDefinition.shape),
  limits: Object.keys(Limits.shape),
  network: ['allow'],
  workspace: Object.keys(WorkspaceFolder.shape),
};

/** The profiles that a file defines, each checked by itself. Folders are relative to the folder of the file. */
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
    if (key !== 'profiles') ofFile(key, `is not known; the file may hold "profiles" alone`);
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

/** A profile that is wrong in itself is still one that others may extend, and whose other rules can be looked at. */
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

/** Why this cannot be the name of a profile; undefined where it can. The names are those that environments may have. */
function nameProblem(name: string): string | undefined {
  if (PROFILE_NAME_FORM.test(name)) return undefined;
  return 'the name of a profile is 1 to 64 letters (A-Z, a-z), digits, "_" and "-", and does not start with "-"';
}
