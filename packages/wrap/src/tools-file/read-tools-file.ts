import { isWithin, jsonFaults, PungiError } from '@pungi/core/base';
import { ToolsFile } from '@pungi/core/contract';
import { propertiesOf } from '../schema/parameters.js';

export const MAX_TOOLS_FILE_BYTES = 1024 * 1024;
/** Whoever reads it goes through all of it, one after the other. */
const MOST = { depth: 100, parts: 200_000 };
/** Of tools and of anything else that is listed. */
const MOST_LISTED = 5000;
/** Faults that are told; the rest is counted. */
const MOST_TOLD = 20;

/** Reads a tools file that a person may have edited. Throws INVALID_INPUT with the faults and where they are. */
export function readToolsFile(text: string, what: string): ToolsFile {
  const json = readJson(text, what);
  const version = (json as { version?: unknown } | null)?.version;
  if (typeof version === 'number' && version > 1) {
    throw invalid(what, [
      `version: is ${version}, which a newer Pungi has written; this one reads version 1`,
    ]);
  }
  const long = tooLong(json);
  if (long.length > 0) throw invalid(what, long);
  const parsed = ToolsFile.safeParse(json);
  const faults = parsed.success ? inconsistencies(parsed.data) : jsonFaults(parsed.error);
  if (!parsed.success || faults.length > 0) throw invalid(what, faults);
  return parsed.data;
}

function readJson(text: string, what: string): unknown {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_TOOLS_FILE_BYTES)
    throw invalid(what, [`it is larger than ${MAX_TOOLS_FILE_BYTES} bytes`]);
  if (!isWithin(bytes, MOST))
    throw invalid(what, [`it is nested more than ${MOST.depth} deep, or has more than ${MOST.parts} parts`]);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(what, [`it is not JSON: ${(error as Error).message.split('\n', 1)[0]}`]);
  }
}

/** Before each entry of them has a fault of its own. */
const tooLong = (json: unknown): string[] =>
  Object.entries(json ?? {})
    .filter(([, value]) => Array.isArray(value) && value.length > MOST_LISTED)
    .map(([name]) => `${name}: must have at most ${MOST_LISTED} entries`);

/** What a schema cannot say. */
function inconsistencies({ tools }: ToolsFile): string[] {
  const first = new Map<string, number>();
  return tools.flatMap((tool, index) => {
    const { name } = tool;
    const other = first.get(name);
    if (other === undefined) first.set(name, index);
    const twice =
      other === undefined ? [] : [`tools.${index}.name: "${name}" is the name of tools.${other} already`];
    if (tool.kind === 'function') return twice;
    const parameters = new Set(propertiesOf(tool.inputSchema).map(([parameter]) => parameter));
    const used = [
      ...tool.argv.map(({ parameter }, place) => [`argv.${place}.parameter`, parameter] as const),
      ...(tool.stdin === null ? [] : [['stdin', tool.stdin] as const]),
    ];
    const unknown = used
      .filter(([, parameter]) => !parameters.has(parameter))
      .map(
        ([place, parameter]) => `tools.${index}.${place}: "${parameter}" is no parameter of the inputSchema`,
      );
    return [...twice, ...unknown];
  });
}

function invalid(what: string, faults: readonly string[]): PungiError {
  const left = faults.length - MOST_TOLD;
  const issues = left > 0 ? [...faults.slice(0, MOST_TOLD), `and ${left} more`] : [...faults];
  return new PungiError('INVALID_INPUT', `${what} cannot be used: ${issues.join('; ')}.`, { issues });
}
