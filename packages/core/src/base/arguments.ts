import { PungiError } from './errors.js';

/** Describes the kind of a value in an error message. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text';
  return typeof value === 'function' ? 'a function' : String(value);
}

export function badArgument(name: string, expected: string, value: unknown): PungiError {
  const issue = `${name}: expected ${expected}, got ${kindOf(value)}`;
  return new PungiError('INVALID_INPUT', `Invalid arguments: ${issue}.`, { issues: [issue] });
}

export function checkObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badArgument(name, 'an object', value);
}

export function checkText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw badArgument(name, 'a text', value);
}

const isFunction = (value: unknown) => typeof value === 'function';

const isOptionalText = (value: unknown) => value === undefined || typeof value === 'string';

export function isCaller(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { client, token, scopes = [], connection } = value as Record<string, unknown>;
  const areScopes = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string');
  return (
    areScopes && isOptionalText(client) && isOptionalText(token ?? undefined) && isOptionalText(connection)
  );
}

/** The options that methods accept, checked at run time because callers may use plain JavaScript. */
const OPTIONS: readonly [name: string, fits: (value: unknown) => boolean, expected: string][] = [
  ['signal', (value) => value instanceof AbortSignal, 'an AbortSignal'],
  ['onLine', isFunction, 'a function'],
  ['onStep', isFunction, 'a function'],
  ['caller', isCaller, 'an object with client, token, scopes or connection'],
  ['upgrade', (value) => typeof value === 'boolean', 'true or false'],
];

export function checkOptions(options: unknown): void {
  checkObject('options', options);
  for (const [name, fits, expected] of OPTIONS) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined && !fits(value)) throw badArgument(`options.${name}`, expected, value);
  }
}
