import type { ObjectSchema, ToolSpec, ToolsFile, WrapMode } from '@pungi/core/contract';
import type { ScriptLook } from '../discover/discover-script.js';
import { describedParameters, descriptionOf, propertiesOf } from '../schema/parameters.js';
import { chooseTools, freeName, remarksFor } from './choose-tools.js';

/** What the tools file of a folder is called. */
export const TOOLS_FILE = 'tools.json';

/** What whoever wraps a script has to say. */
export interface Wrapping {
  /** Of the server, or of the group of tools. */
  name: string;
  /** The path of the script, relative to the tools file. */
  script: string;
  mode: WrapMode;
  functions?: readonly string[] | undefined;
  include?: readonly string[] | undefined;
  environment: string | null;
  profile: string | null;
  wrappedBy?: 'client' | undefined;
  since?: string | undefined;
}

/** All that is known of a script's tools. Functions that were chosen but are not there are remarked upon. */
export function makeToolsFile(look: ScriptLook, wrapping: Wrapping): ToolsFile {
  const { name, script, mode, functions, include, environment, profile, wrappedBy, since } = wrapping;
  const { description, dependencies, requiresPython } = look.discovery;
  const { tools, missing } = chooseTools(look.discovery, { mode, functions });
  const notThere = missing.map(({ name, why }) => ({
    line: 1,
    name,
    reason: `chosen, but ${why}`,
    isSkipped: true,
  }));
  return {
    version: 1,
    name,
    description,
    script,
    ...(look.package !== undefined && { package: look.package }),
    sha256: look.sha256,
    mode,
    ...(functions !== undefined && { functions: [...functions] }),
    environment,
    profile,
    dependencies,
    requiresPython,
    missingImports: look.missingImports.map(({ module }) => module),
    modules: look.modules.map(({ path }) => path),
    ...(include !== undefined && { include: [...include] }),
    tools: tools.map(withSource),
    remarks: [...remarksFor(look.remarks, tools), ...notThere],
    ...(wrappedBy !== undefined && { wrappedBy }),
    ...(since !== undefined && { since }),
    source: { description },
  };
}

/** A new look at a script that is wrapped already: its tools as they are now, with all that a person has changed. */
export const updateToolsFile = (
  old: ToolsFile,
  look: ScriptLook,
  changes: Partial<Wrapping> = {},
): ToolsFile => mergeToolsFile(old, makeToolsFile(look, { ...wrappingOf(old), ...changes }));

function wrappingOf(file: ToolsFile): Wrapping {
  const { name, script, mode, functions, include, environment, profile, wrappedBy, since } = file;
  return { name, script, mode, functions, include, environment, profile, wrappedBy, since };
}

/** As it is written: readable, since a person may edit it. */
export const toolsFileText = (file: ToolsFile): string => `${JSON.stringify(file, null, 2)}\n`;

/** A later look compares with exactly what is written now. */
const withSource = <T extends ToolSpec>(tool: T): T => ({
  ...tool,
  source: { description: tool.description, parameters: describedParameters(tool.inputSchema) },
});

/** What is found in the script now, with what a person has changed in the file since it was written. */
function mergeToolsFile(old: ToolsFile, fresh: ToolsFile): ToolsFile {
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
