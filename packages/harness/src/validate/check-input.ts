import { sha256, withoutMark } from '@pungi/core/base';
import { shown } from '../judge/shown.js';
import { LONGEST_MS } from './runner.js';
import { ScriptError } from './script-result.js';

/** Validates what callers pass to the engine: TypeScript's types do not exist at run time. */

const invalidInput = (argument: string, wanted: string, given: unknown): ScriptError =>
  new ScriptError('INVALID_INPUT', `${argument} must be ${wanted}; got ${describe(given)}.`);

export function readScript(script: unknown): string {
  if (typeof script !== 'string') throw invalidInput('script', 'a string of Python source', script);
  return withoutMark(script);
}

export function checkPrecompiled(script: unknown): void {
  const texts = ['source', 'sha256', 'filename', 'bytecode', 'bytecodeSha256', 'tag'];
  const isScript =
    isObject(script) && texts.every((name) => typeof (script as Record<string, unknown>)[name] === 'string');
  if (!isScript) throw invalidInput('script', 'a result of precompileScript', script);
  const { source, bytecode, ...sums } = script as Record<
    'source' | 'sha256' | 'bytecode' | 'bytecodeSha256',
    string
  >;
  if (sha256(source) !== sums.sha256) throw alteredScript('script.source');
  if (sha256(bytecode) !== sums.bytecodeSha256) throw alteredScript('script.bytecode');
}

export const alteredScript = (argument: string): ScriptError =>
  new ScriptError(
    'INVALID_INPUT',
    `${argument} is not a result of precompileScript: compile the script again.`,
  );

export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw invalidInput('options', 'an object', options);
  const { timeoutMs, filename, functionName, folder } = options as Record<string, unknown>;
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= LONGEST_MS))
    throw invalidInput('options.timeoutMs', `a number above 0, at most ${LONGEST_MS}`, timeoutMs);
  for (const [name, value] of Object.entries({ filename, functionName, folder }))
    if (value !== undefined && typeof value !== 'string')
      throw invalidInput(`options.${name}`, 'a string', value);
}

/** A context is sent to Python as JSON. Values that JSON would silently change are refused. */
export function checkContext(context: unknown): void {
  if (!isObject(context) || Array.isArray(context)) throw invalidInput('context', 'an object', context);
  const open: { value: unknown; path: string; within: readonly unknown[] }[] = [
    { value: context, path: 'context', within: [] },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (isForeign(value)) throw invalidInput(path, 'JSON', value);
    if (!isObject(value)) continue;
    if (next.within.includes(value)) throw invalidInput(path, 'JSON without cycles', 'a cycle');
    // The runner refuses deeper values.
    if (next.within.length > MOST_DEPTH) continue;
    const within = [...next.within, value];
    for (const [key, inner] of Object.entries(value)) {
      const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
      if (typeof inner === 'object' || isForeign(inner)) open.push({ value: inner, path: at, within });
    }
  }
}

const MOST_DEPTH = 500;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isForeign = (value: unknown): boolean =>
  (typeof value === 'number' && !Number.isFinite(value)) ||
  ['bigint', 'function', 'symbol'].includes(typeof value);

const describe = (value: unknown): string =>
  typeof value === 'function'
    ? 'a function'
    : typeof value === 'number' ||
        typeof value === 'bigint' ||
        value === undefined ||
        typeof value === 'symbol'
      ? String(value)
      : shown(value);
