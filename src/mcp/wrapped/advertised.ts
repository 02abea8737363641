import type { Tool } from '@modelcontextprotocol/server';
import type { WrappedTool } from '../../wrap/tools-folder/wrapped-script.js';

const known = new WeakMap<ReadonlyMap<string, WrappedTool>, Tool[]>();

/** What clients are told of wrapped tools, as their tools files say it. Made once for each state of the folder. */
export function advertisedTools(tools: ReadonlyMap<string, WrappedTool>): Tool[] {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const advertised = [...tools.values()].map(advertise);
  known.set(tools, advertised);
  return advertised;
}

function advertise({ name, spec, script }: WrappedTool): Tool {
  const { title, description, inputSchema, annotations } = spec;
  const outputSchema = promisedSchema({ spec, script });
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: inputSchema as Tool['inputSchema'],
    ...(outputSchema !== null && { outputSchema: outputSchema as Tool['outputSchema'] }),
    ...(annotations !== undefined && { annotations: annotations as NonNullable<Tool['annotations']> }),
  };
}

/** A schema that no client could use is not promised. */
export function promisedSchema({ spec, script }: Pick<WrappedTool, 'spec' | 'script'>) {
  return script.faults.some(({ tool }) => tool === spec.name) ? null : spec.outputSchema;
}
