import { invalidInput, PungiError } from '../../base/errors.js';
import { Cursor, Misfit } from './cursor.js';
import {
  type DirectReference,
  hideCredentials,
  isArchive,
  isPath,
  isUrl,
  readPath,
  readUrl,
  type Source,
} from './direct-reference.js';
import { readMarker } from './marker.js';
import { type Clause, type Operator, parseClause, renderSpecifier } from './versions.js';

/** A requirement as PEP 508 reads it. */
export interface Requirement {
  name: string;
  /** The name as PEP 503 normalises it: two requirements with one key are about one package. */
  key: string;
  extras: string[];
  /** Clauses in one fixed order, e.g. `<3,>=2.1`; empty where any version will do. */
  specifier: string;
  url?: string;
  marker?: string;
  /** The canonical text, which tools get instead of the typed one. */
  text: string;
}

const MAX_LENGTH = 500;
const MAX_REQUIREMENTS = 100;
const NAME = /[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/y;
const OPERATOR = /===|==|~=|!=|<=|>=|<|>/y;
const VERSION = /[A-Za-z0-9._*+!-]+/y;
// Line breaks and whatever else is not shown, except tabs.
const CONTROL = /[^\P{Cc}\t]|[\p{Zl}\p{Zp}]/u;

/** Parses a requirement strictly: anything else, or a kind that is not allowed, is INVALID_INPUT. */
export function parseRequirement(text: string, allowed: readonly Source[] = []): Requirement {
  try {
    return read(text, allowed);
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw invalidInput(`${show(text)} ${error.message}.`);
  }
}

/** Parses a list of requirements. One error reports all problems; duplicates are removed. */
export function parseRequirements(list: readonly unknown[], allowed: readonly Source[] = []): Requirement[] {
  const issues: string[] = [];
  const found: Requirement[] = [];
  if (list.length > MAX_REQUIREMENTS) {
    throw invalid([`${list.length} requirements are too many; give at most ${MAX_REQUIREMENTS} at a time`]);
  }
  for (const text of list) {
    try {
      const requirement = parseRequirement(text as string, allowed);
      const clash = found.find((other) => clashes(other, requirement));
      if (clash)
        issues.push(`"${clash.text}" and "${requirement.text}" are about one package; give one of them.`);
      else if (!found.some((other) => other.text === requirement.text)) found.push(requirement);
    } catch (error) {
      if (!(error instanceof PungiError)) throw error;
      issues.push(error.message);
    }
  }
  if (issues.length > 0) throw invalid(issues);
  return found;
}

/** With different markers, each can apply to another machine: `numpy<2 ; …` and `numpy>=2 ; …`. */
function clashes(one: Requirement, other: Requirement): boolean {
  if (one.key !== other.key || one.text === other.text) return false;
  return one.marker === undefined || other.marker === undefined || one.marker === other.marker;
}

function invalid(issues: string[]): PungiError {
  return new PungiError('INVALID_INPUT', `The packages are not valid: ${issues.join(' ')}`, { issues });
}

/** The name as PEP 503 normalises it. */
export function nameKey(name: string): string {
  return name.replace(/[-_.]+/g, '-').toLowerCase();
}

function read(text: string, allowed: readonly Source[]): Requirement {
  if (typeof text !== 'string') throw new Misfit('is not a text');
  if (text.trim() === '') throw new Misfit('is empty; give the name of a package');
  if (text.length > MAX_LENGTH) throw new Misfit(`is longer than ${MAX_LENGTH} characters`);
  if (CONTROL.test(text)) {
    throw new Misfit('has a line break or another control character; give one requirement at a time');
  }
  const trimmed = text.trim();
  if (trimmed.startsWith('-')) throw new Misfit('is an option; only packages can be given');
  if (isUrl(trimmed)) return readBare(readUrl(trimmed, allowed));
  if (isPath(trimmed)) return readBare(readPath(trimmed, allowed));
  return readNamed(new Cursor(trimmed), allowed);
}

/** Reads a URL or a path without a name: the file's name contains the package. */
function readBare(reference: DirectReference): Requirement {
  const { url, packageName } = reference;
  if (packageName === undefined) {
    throw new Misfit('does not name its package; write "name @ " before it');
  }
  return build({ name: packageName, extras: [], clauses: [], url });
}

function readNamed(cursor: Cursor, allowed: readonly Source[]): Requirement {
  const name = cursor.take(NAME);
  if (name === undefined) throw new Misfit(describeRest(cursor.rest));
  if (isArchive(name))
    throw new Misfit('is the name of a file; write it as "name @ file:///folder/file.whl"');
  const extras = readExtras(cursor);
  const url = cursor.take(/@/y) === undefined ? undefined : readReference(cursor, name, allowed);
  const clauses = url === undefined ? readClauses(cursor) : [];
  const marker = cursor.take(/;/y) === undefined ? undefined : readMarker(cursor);
  if (cursor.rest !== '') throw new Misfit(describeRest(cursor.rest));
  return build({ name, extras, clauses, ...(url && { url }), ...(marker && { marker }) });
}

function readExtras(cursor: Cursor): string[] {
  if (cursor.take(/\[/y) === undefined) return [];
  const byKey = new Map<string, string>();
  for (let extra = cursor.take(NAME); extra !== undefined; extra = cursor.take(NAME)) {
    byKey.set(nameKey(extra), extra);
    if (cursor.take(/,(?=[ \t]*[A-Za-z0-9])/y) === undefined) break;
  }
  if (cursor.take(/\]/y) === undefined) {
    throw new Misfit('has extras that are not names with commas between them, as in "name[one,two]"');
  }
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, extra]) => extra);
}

function readReference(cursor: Cursor, name: string, allowed: readonly Source[]): string {
  const written = cursor.take(/[^ \t]+/y) ?? '';
  if (!isUrl(written)) {
    throw new Misfit(
      written !== '' && (isPath(written) || isArchive(written))
        ? 'has a path after "@"; write it as "name @ file:///folder/file.whl"'
        : `has no URL after "@"; a version is written as "${name}==1.0"`,
    );
  }
  const { url, packageName } = readUrl(written, allowed);
  const isOther = packageName !== undefined && nameKey(packageName) !== nameKey(name);
  if (isOther && url.split(/[?#]/)[0]!.toLowerCase().endsWith('.whl')) {
    throw new Misfit(`names the wheel of another package: ${packageName}`);
  }
  return url;
}

function readClauses(cursor: Cursor): Clause[] {
  const isEnclosed = cursor.take(/\(/y) !== undefined;
  const clauses: Clause[] = [];
  do {
    const operator = cursor.take(OPERATOR) as Operator | undefined;
    if (operator === undefined) {
      if (clauses.length === 0 && !isEnclosed) return [];
      throw new Misfit('has a "(" or "," that no version such as ">=1.0" follows');
    }
    const written = cursor.take(VERSION);
    if (written === undefined) throw new Misfit(`has no version after "${operator}"`);
    const clause = parseClause(operator, written);
    if (typeof clause === 'string') throw new Misfit(`has a version that cannot be used: ${clause}`);
    clauses.push(clause);
  } while (cursor.take(/,/y) !== undefined);
  // pip takes everything up to a space for the version after "===", a comma included.
  if (clauses.length > 1 && clauses.some(({ operator }) => operator === '===')) {
    throw new Misfit('has another version beside "===", which goes alone');
  }
  if (isEnclosed && cursor.take(/\)/y) === undefined) {
    throw new Misfit('has a parenthesis that is not closed');
  }
  return clauses;
}

interface Parts {
  name: string;
  extras: string[];
  clauses: Clause[];
  url?: string;
  marker?: string;
}

function build({ name, extras, clauses, url, marker }: Parts): Requirement {
  const key = nameKey(name);
  const specifier = renderSpecifier(clauses);
  // `name==1.0+x.zip`: pip checks the end of a requirement before it parses it, and would look for a file.
  if (isArchive(specifier)) throw new Misfit('ends like the name of a file');
  const text = [
    key,
    extras.length > 0 ? `[${extras.join(',')}]` : '',
    specifier,
    url === undefined ? '' : ` @ ${url}`,
    marker === undefined ? '' : ` ; ${marker}`,
  ].join('');
  // The stored text is parsed again later.
  if (text.length > MAX_LENGTH)
    throw new Misfit(`is longer than ${MAX_LENGTH} characters when written in full`);
  return { name, key, extras, specifier, ...(url && { url }), ...(marker && { marker }), text };
}

/** Describes the text after the end of a requirement. */
function describeRest(rest: string): string {
  const place = `at ${show(rest)}`;
  if (/^--?[A-Za-z]/.test(rest)) return `has an option, ${place}; only packages can be given`;
  if (/^[|&$`"'\\<>{}*?!^%;]/.test(rest)) return `has text for a shell, ${place}; only packages can be given`;
  if (/^=[^=]/.test(rest)) return `has a single "=", ${place}; an exact version is written with "=="`;
  if (/^[A-Za-z0-9]/.test(rest)) return `goes on after its end, ${place}; give one requirement at a time`;
  return `is not a requirement such as "name>=1.0", ${place}`;
}

function show(text: unknown): string {
  if (typeof text !== 'string') return `A value of type ${typeof text}`;
  const hidden = hideCredentials(text);
  const short = hidden.length > 120 ? `${hidden.slice(0, 120)}…` : hidden;
  return JSON.stringify(short.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '�'));
}
