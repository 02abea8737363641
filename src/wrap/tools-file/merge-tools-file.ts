import type { ObjectSchema, ToolSpec, ToolsFile } from '../../contract/wrap.js';
import { descriptionOf, propertiesOf } from '../schema/parameters.js';
import { freeName } from './free-name.js';

/** What is found in the script now, with what a person has changed in the file since it was written. */
export function mergeToolsFile(old: ToolsFile, fresh: ToolsFile): ToolsFile {
  const before = new Map(old.tools.map((tool) => [originOf(tool), tool]));
  const isDescribed = old.source !== undefined && old.description !== old.source.description;
  return {
    ...(old.$schema !== undefined && { $schema: old.$schema }),
    ...fresh,
    description: isDescribed ? old.description : fresh.description,
    tools: withKnownNames(fresh.tools, before).map((tool) => {
      const known = before.get(originOf(tool));
      return known === undefined ? tool : mergeTool(known, tool);
    }),
  };
}

/** What a tool is in its script, whatever clients call it. */
export const originOf = (tool: ToolSpec): string =>
  tool.kind === 'function' ? `function ${tool.function}` : `script ${tool.command.join(' ')}`;

/** Clients know a tool by its name: it stays, and what is new gives way. */
function withKnownNames(tools: readonly ToolSpec[], before: ReadonlyMap<string, ToolSpec>): ToolSpec[] {
  const taken = new Set(tools.flatMap((tool) => before.get(originOf(tool))?.name ?? []));
  return tools.map((tool) => {
    const known = before.get(originOf(tool));
    const name = known?.name ?? (taken.has(tool.name) ? freeName(tool.name, '_new', taken) : tool.name);
    taken.add(name);
    return { ...tool, name };
  });
}

function mergeTool(known: ToolSpec, fresh: ToolSpec): ToolSpec {
  const { title = fresh.title, hidden, annotations = fresh.annotations } = known;
  return {
    ...fresh,
    ...(title !== undefined && { title }),
    description: known.description === known.source.description ? fresh.description : known.description,
    ...(hidden !== undefined && { hidden }),
    ...(annotations !== undefined && { annotations }),
    inputSchema: withDescriptions(fresh.inputSchema, known),
  };
}

/** The descriptions of parameters that a person has set, changed or taken away. */
function withDescriptions(schema: ObjectSchema, { inputSchema, source }: ToolSpec): ObjectSchema {
  const properties = propertiesOf(schema);
  if (properties.length === 0) return schema;
  const before = new Map(propertiesOf(inputSchema));
  const merged = properties.map(([name, one]) => {
    const known = before.get(name);
    const said = known && descriptionOf(known);
    if (known === undefined || said === source.parameters[name]) return [name, one];
    const { description: _, ...rest } = one;
    return [name, said === undefined ? rest : { ...rest, description: said }];
  });
  return { ...schema, properties: Object.fromEntries(merged) };
}
