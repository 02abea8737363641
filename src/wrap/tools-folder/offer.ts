import type { ScriptInUse, WrappedTool } from './wrapped-script.js';

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
    const text = JSON.stringify([name, spec, names.has(spec.name)]);
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
