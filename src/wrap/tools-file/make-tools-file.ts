import type { ToolSpec, ToolsFile, WrapMode } from '../../contract/wrap.js';
import type { ScriptLook } from '../discover/discover-script.js';
import { describedParameters } from '../schema/parameters.js';
import { chooseTools, remarksFor } from './choose-tools.js';
import { mergeToolsFile } from './merge-tools-file.js';

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
