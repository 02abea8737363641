import { PungiError, similarName } from '@pungi/core/base';
import type { Discovery, FunctionTool, Remark, ScriptTool, ToolSpec, WrapMode } from '@pungi/core/contract';

interface Choice {
  mode: WrapMode;
  /** The functions to offer; not given: all that there are. */
  functions?: readonly string[] | undefined;
}

interface Chosen {
  tools: ToolSpec[];
  /** Functions that were asked for, and why each is not among the tools. */
  missing: { name: string; why: string }[];
}

/** What of a script becomes tools. */
export function chooseTools(discovery: Discovery, { mode, functions }: Choice): Chosen {
  const { scripts, functions: all } = discovery;
  const wanted = functions === undefined ? all : all.filter((tool) => functions.includes(tool.function));
  const known = new Set(all.map((tool) => tool.function));
  const missing = (functions ?? [])
    .filter((name) => !known.has(name))
    .map((name) => ({ name, why: whyMissing(name, discovery) }));
  switch (mode) {
    case 'function':
      return { tools: wanted, missing };
    case 'script':
      return { tools: scripts, missing: [] };
    case 'both':
      return { tools: withOwnNames(wanted, scripts), missing };
    case 'auto':
      if (functions !== undefined) return { tools: wanted, missing };
      return { tools: withOwnNames(all, all.length === 0 ? scripts : scripts.filter(isDeclared)), missing };
  }
}

/** What becomes tools, where that is all that was asked for and not nothing. Throws INVALID_INPUT with the reasons. */
export function requireTools(
  discovery: Discovery,
  choice: Choice,
  filename: string,
  problem: string | null = null,
): ToolSpec[] {
  const { tools, missing } = chooseTools(discovery, choice);
  if (missing.length > 0) {
    const reasons = missing.map(({ name, why }) => `"${name}": ${why}`);
    throw invalid(`Not all of these functions can be tools. ${reasons.join('; ')}.`, { missing });
  }
  if (tools.length > 0) return tools;
  const skipped = remarksFor(discovery.remarks, tools).filter(({ isSkipped }) => isSkipped);
  const reasons = skipped
    .slice(0, 3)
    .map(({ line, name, reason }) => ` Line ${line}, ${name}: ${sentence(reason)}`);
  const isOther = discovery.functions.length > 0 || discovery.scripts.length > 0;
  const other = isOther ? ` With another mode there is: ${choice.mode} finds none.` : '';
  const why = problem === null ? '' : ` ${problem}`;
  throw invalid(`There is nothing to wrap in ${filename}.${why}${reasons.join('')}${other}`, {
    remarks: skipped,
  });
}

/** A command line that the script itself declares, rather than words that are handed to it as they come. */
const isDeclared = ({ parser }: ScriptTool): boolean => parser !== null;

const SERVES = 'It serves the command line.';

/** The remarks of a discovery, in the words that hold where these are the tools. */
export function remarksFor(remarks: readonly Remark[], tools: readonly ToolSpec[]): Remark[] {
  const hasCommandLine = tools.some(({ kind }) => kind === 'script');
  const reason = hasCommandLine
    ? 'It serves the command line, which is a tool itself.'
    : 'It serves the command line, which is a tool with the mode "script" or "both".';
  return remarks.map((remark) => (remark.reason === SERVES ? { ...remark, reason } : remark));
}

/** A script may be called like one of its functions. */
function withOwnNames(functions: readonly FunctionTool[], scripts: readonly ScriptTool[]): ToolSpec[] {
  const taken = new Set(functions.map(({ name }) => name));
  const renamed = scripts.map((tool) => {
    const name = taken.has(tool.name) ? freeName(tool.name, '_script', taken) : tool.name;
    taken.add(name);
    return { ...tool, name };
  });
  return [...functions, ...renamed];
}

function whyMissing(name: string, { functions, remarks }: Discovery): string {
  const remark = remarksFor(remarks, []).find(
    (one) => one.isSkipped && (one.name === name || one.name.startsWith(`${name}(`)),
  );
  if (remark !== undefined) return `line ${remark.line}: ${remark.reason.replace(/\.$/, '')}`;
  const names = functions.map((tool) => tool.function);
  const similar = similarName(name, names);
  if (similar !== undefined) return `there is no such function, but "${similar}"`;
  return `there is no such function; there are ${names.join(', ') || 'none'}`;
}

const sentence = (reason: string) => `${reason.replace(/\.$/, '')}.`;
const invalid = (message: string, details: Record<string, unknown>) =>
  new PungiError('INVALID_INPUT', message, details);

/** As long as names of tools may be. */
const LONGEST_NAME = 128;
/** With room for a number, names that share this much share their numbers. */
const COMMON = 110;

/** The last number that was given for a beginning: the next search goes on there. Names that are taken stay so. */
const numbers = new WeakMap<ReadonlySet<string>, Map<string, number>>();

/** The name with a suffix, and a number where that is taken as well. */
export function freeName(name: string, suffix: string, taken: ReadonlySet<string>): string {
  const plain = name.slice(0, LONGEST_NAME - suffix.length) + suffix;
  if (!taken.has(plain)) return plain;
  const last = numbers.get(taken) ?? new Map<string, number>();
  numbers.set(taken, last);
  const beginning = `${name.slice(0, COMMON - suffix.length)}${suffix}`;
  for (let number = last.get(beginning) ?? 2; ; number += 1) {
    const end = `${suffix}_${number}`;
    const candidate = name.slice(0, LONGEST_NAME - end.length) + end;
    if (taken.has(candidate)) continue;
    last.set(beginning, number);
    return candidate;
  }
}
