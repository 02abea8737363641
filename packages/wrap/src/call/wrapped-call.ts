import { PungiError } from '@pungi/core/base';
import type { ArgvRule, RunRequest, ScriptTool } from '@pungi/core/contract';
import { fitSchema } from '../schema/fit-schema.js';
import type { WrappedTool } from '../tools-folder/wrapped-script.js';
import { placeFiles } from './path-arguments.js';

/**
 * The run that a call of a wrapped tool is. Throws INVALID_INPUT for a command line with arguments that do not fit, and for
 * files that are none. `roots`: the folders whose files an argument may name.
 */
export async function wrappedCall(
  { spec, script, preload }: WrappedTool,
  given: Record<string, unknown>,
  roots: string[] = [],
): Promise<RunRequest> {
  const { code, filename, package: within, tools } = script;
  // A client chooses both the script and the path: it would read whatever is below the roots.
  const readable = tools.wrappedBy === 'client' ? [] : roots;
  const { args, files: placed } = await placeFiles(spec.inputSchema, given, readable);
  const files = [...script.files, ...placed];
  const request: RunRequest = {
    code,
    filename,
    ...(within !== undefined && { package: within }),
    ...(files.length > 0 && { files }),
    ...(preload.length > 0 && { preload: [...preload] }),
    ...(tools.environment !== null && { venvName: tools.environment }),
    ...(tools.profile !== null && { profile: tools.profile }),
  };
  if (spec.kind === 'function') {
    const { function: name, inputSchema } = spec;
    return { ...request, call: { function: name, arguments: args, inputSchema } };
  }
  const closed = { additionalProperties: false, ...spec.inputSchema };
  const { value, issues } = fitSchema(closed, args, { isLax: true });
  if (issues.length > 0)
    throw new PungiError('INVALID_INPUT', 'The arguments do not fit the tool.', { issues });
  const fitted = value as Record<string, unknown>;
  const stdin = spec.stdin === null ? undefined : fitted[spec.stdin];
  return {
    ...request,
    argv: commandWords(spec, fitted),
    ...(spec.entry !== undefined && { call: { function: spec.entry, arguments: {} } }),
    ...(typeof stdin === 'string' && { stdin }),
  };
}

/** More is nothing that anybody means. */
const MOST_TIMES = 1000;

type CommandLine = Pick<ScriptTool, 'command' | 'argv' | 'parser'>;

/**
 * The words of a command line that say these arguments: the subcommand, with the options of commands above it before
 * its words, its own options, then what has no flag. The same is in packages/core/python/standalone/command_words.py;
 * tests/fixtures/command-words.json holds for both.
 */
export function commandWords(tool: CommandLine, args: Readonly<Record<string, unknown>>): string[] {
  const given = tool.argv.filter(({ parameter }) => isGiven(args, parameter));
  const options = given.filter(({ flag }) => flag !== null);
  const positional = given
    .filter(({ flag }) => flag === null)
    .flatMap(({ parameter }) => listOf(args[parameter]).map(wordOf));
  const last = tool.command.length;
  const optionsAt = (place: number) =>
    options
      .filter(({ before = last }) => Math.min(before, last) === place)
      .flatMap((rule) => optionWords(rule, args[rule.parameter]));
  const words = [...tool.command.flatMap((word, place) => [...optionsAt(place), word]), ...optionsAt(last)];
  // Without a known parser nobody knows what "--" would be taken for.
  if (tool.parser === null) return [...words, ...positional];
  // An option that takes many would take these words as well, and one that begins with "-" would be an option.
  const isOpen =
    options.some(({ takes }) => takes === 'many') || positional.some((word) => word.startsWith('-'));
  return [...words, ...(isOpen && positional.length > 0 ? ['--'] : []), ...positional];
}

const isGiven = (args: Readonly<Record<string, unknown>>, parameter: string) =>
  Object.hasOwn(args, parameter) && args[parameter] !== null && args[parameter] !== undefined;

function optionWords({ flag, takes, whenFalse }: ArgvRule, value: unknown): string[] {
  const name = flag ?? '';
  if (takes === 'nothing') return value === true ? [name] : whenFalse === undefined ? [] : [whenFalse];
  if (takes === 'count') return Array<string>(timesOf(value)).fill(name);
  const words = listOf(value).map(wordOf);
  if (takes === 'many') return words.length === 0 ? [] : [name, ...words];
  return (takes === 'each' ? words : [wordOf(value)]).flatMap((word) => flagWords(name, word));
}

const timesOf = (value: unknown) =>
  typeof value === 'number' || typeof value === 'boolean'
    ? Math.max(0, Math.min(Math.trunc(Number(value)), MOST_TIMES))
    : 0;

/** So that a value which begins with "-" is no option: after "=", or, where the flag is one letter, joined to it. */
function flagWords(flag: string, word: string): string[] {
  if (!/^-[^-]$/u.test(flag)) return [`${flag}=${word}`];
  return word.startsWith('-') ? [`${flag}${word}`] : [flag, word];
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** Text as it is; everything else as JSON. */
const wordOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
