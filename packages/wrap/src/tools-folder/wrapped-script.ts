import { join } from 'node:path';
import type { Logger } from '@pungi/core/base';
import type { InputFile, ToolSpec, ToolsFile } from '@pungi/core/contract';
import { withFiles } from '../call/path-arguments.js';
import type { Availability } from '../discover/surrounding.js';

/** A place in the tools folder that leads to a script: the script itself, a registration, or a folder of its own. */
export interface ScriptSource {
  /** Of the group of tools, unless its tools file says otherwise; unwrap_script knows it by this. */
  name: string;
  /** The path of the script or tools file, from the tools folder. */
  origin: string;
  kind: 'script' | 'registration' | 'folder';
}

/** A script that is in order. */
export interface ScriptInUse {
  tools: ToolsFile;
  /** The real path of the script. */
  path: string;
  filename: string;
  /** The package that it is a module of. */
  package: string | undefined;
  code: string;
  /** What goes along with it from beside it. */
  files: InputFile[];
  /** What it imports before it does anything, from elsewhere. */
  firstImports: string[];
  /** Tools that cannot be offered as they are written, and why. */
  faults: ToolFault[];
  /** When it came here: of two tools with one name, the older one has it. */
  since: number;
  /** Calls of it may be unable to run though it is in order itself. */
  availability: Availability;
  /** Why it cannot be loaded, or why every call of it is refused. */
  problem: string | null;
}

export interface ToolFault {
  tool: string;
  problem: string;
  /** False: it is offered, without what is wrong with it. */
  isLeftOut: boolean;
}

/** What is known of a place in the tools folder. */
export interface WrappedScript extends ScriptSource {
  /** The newest state that was in order; null: there was none. */
  inUse: ScriptInUse | null;
  /** Why what is there now is not in use, or cannot run. */
  problem: string | null;
}

/** A tool as clients see it. */
export interface WrappedTool {
  /** What clients call it: the name of its script is before its own where another tool had that first. */
  name: string;
  spec: ToolSpec;
  group: string;
  script: ScriptInUse;
  /** What workers are parked with: the imports of all scripts that run where this one does, so that they share them. */
  preload: readonly string[];
}

/** What is remembered of a place in the tools folder between two looks. */
export interface Entry extends WrappedScript {
  paths: string[];
  /** Of the files behind it, when they were read; empty: they are to be read again. */
  state: string;
}

/** Of a place that nothing is known of yet. */
export const unread = (folder: string, source: ScriptSource): Entry => ({
  ...source,
  inUse: null,
  problem: `"${source.origin}" is still being read.`,
  paths: [join(folder, source.origin)],
  state: '',
});

/** A script with a registration of its own is not offered twice. What a client registers hides nothing of its owner's. */
export function withoutClaimed(entries: readonly Entry[]): Entry[] {
  const claimed = new Set(
    entries
      .filter(({ kind, inUse }) => kind !== 'script' && inUse?.tools.wrappedBy !== 'client')
      .flatMap(({ inUse }) => (inUse === null ? [] : [inUse.path])),
  );
  return entries.filter(({ kind, inUse }) => kind !== 'script' || inUse === null || !claimed.has(inUse.path));
}

/** One message over 10 MiB ends a stdio connection, and the list of tools is one message. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_TOOLS = 1000;

export interface Offer {
  /** By the names that clients call them. */
  tools: ReadonlyMap<string, WrappedTool>;
  /** Another text means that clients see something else. */
  text: string;
  problem: string | null;
}

/** As many tools as clients can be told of. One that is too large for that does not keep those after it away. */
export function offerOf(tools: readonly WrappedTool[]): Offer {
  const offered = new Map<string, WrappedTool>();
  const texts: string[] = [];
  const faulty = new Map<ScriptInUse, ReadonlySet<string>>();
  let bytes = 0;
  for (const tool of tools) {
    if (offered.size >= MOST_TOOLS) break;
    const { name, spec, script } = tool;
    const names = faulty.get(script) ?? new Set(script.faults.map((fault) => fault.tool));
    faulty.set(script, names);
    const shown = { ...spec, inputSchema: withFiles(spec.inputSchema) };
    const text = JSON.stringify([name, shown, names.has(spec.name)]);
    const size = Buffer.byteLength(text);
    if (bytes + size > MOST_BYTES) continue;
    bytes += size;
    offered.set(name, tool);
    texts.push(text);
  }
  const left = tools.length - offered.size;
  const problem = `The scripts of the tools folder have more tools than clients can be told of: ${left} are not offered.`;
  return { tools: offered, text: texts.join('\n'), problem: left === 0 ? null : problem };
}

/** Faults of a script that are told to the log; the rest is counted. */
const MOST_TOLD = 20;

/** Tells the log of a script's tools that are not offered, or not as they are written. */
export function tellFaults(logger: Logger, script: string, faults: readonly ToolFault[]): void {
  for (const { tool, problem, isLeftOut } of faults.slice(0, MOST_TOLD)) {
    const words = isLeftOut
      ? 'A wrapped tool is not offered'
      : 'A wrapped tool is not offered as it is written';
    logger.error(words, { script, tool, problem });
  }
  const more = faults.length - MOST_TOLD;
  if (more > 0)
    logger.error('More wrapped tools are not offered, or not as they are written', { script, more });
}
