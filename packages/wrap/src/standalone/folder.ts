import { basename } from 'node:path';
import { distributionFor } from '@pungi/core';
import { PungiError } from '@pungi/core/base';
import { ToolsFile } from '@pungi/core/contract';
import { z } from 'zod';
import type { ScriptLook } from '../discover/discover-script.js';
import { TOOLS_FILE, toolsFileText } from '../tools-file/make-tools-file.js';
import { wrapperText } from './bundle.js';
import { configurationFiles, readmeText } from './readme.js';

/** A file of the folder, by its path from it. */
export interface FolderFile {
  path: string;
  content: string | Buffer;
}

export const REQUIREMENTS_FILE = 'requirements.txt';
const SCHEMA_FILE = 'tools.schema.json';

/** Everything that a folder holds which runs with nothing but Python. */
export function folderFiles(folder: string, file: ToolsFile, look: ScriptLook): FolderFile[] {
  const name = basename(folder);
  const requirements = requirementsText(look);
  const configurations = configurationFiles(file.name, name);
  const own: FolderFile[] = [
    { path: 'wrapper.py', content: wrapperText() },
    { path: SCHEMA_FILE, content: jsonText(toolsSchema()) },
    { path: 'README.md', content: readmeText({ file, requirements, configurations }) },
    ...(requirements === null ? [] : [{ path: REQUIREMENTS_FILE, content: requirements }]),
    ...configurations.map(({ path, content }) => ({ path, content: jsonText(content) })),
    // The last: where the others are not all there, nobody takes the folder for whole.
    { path: TOOLS_FILE, content: toolsFileText({ $schema: `./${SCHEMA_FILE}`, ...file }) },
  ];
  const within = look.package === undefined ? '' : `${look.package.replaceAll('.', '/')}/`;
  const scripts = [{ path: `${within}${look.filename}`, content: look.code }, ...look.modules];
  const clash = scripts.find(({ path }) => own.some((file) => areInEachOthersWay(path, file.path)));
  if (clash !== undefined) {
    throw new PungiError(
      'INVALID_INPUT',
      `"${clash.path}" cannot go into the folder: a file of the wrapper has that name. Rename it.`,
    );
  }
  return [...scripts, ...own];
}

/** The same file, also where case does not count, or one is a folder that the other is in. */
function areInEachOthersWay(one: string, other: string): boolean {
  const [first, second] = [`${one.toLowerCase()}/`, `${other.toLowerCase()}/`];
  return first.startsWith(second) || second.startsWith(first);
}

const jsonText = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

/** Null where nothing has to be installed. */
export function requirementsText({
  discovery: { dependencies },
  imports,
  filename,
}: Pick<ScriptLook, 'discovery' | 'imports' | 'filename'>): string | null {
  if (dependencies.length > 0) return render(`From the "# /// script" block of ${filename}.`, dependencies);
  const known = [...new Set(imports.flatMap((module) => distributionFor(module) ?? []))].sort();
  const unknown = imports.filter((module) => distributionFor(module) === null);
  if (imports.length === 0) return null;
  const rest = unknown.length === 0 ? '' : ` Add the packages of: ${unknown.join(', ')}.`;
  return render(`From what ${filename} imports.${rest}`, known);
}

const render = (from: string, requirements: readonly string[]) =>
  `# ${from}\n${requirements.map((one) => `${one.replaceAll(/\s+/g, ' ')}\n`).join('')}`;

/** What is published as docs/tools.schema.json, and put beside a tools.json so that editors know it. */
export const toolsSchema = (): Record<string, unknown> => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'tools.json',
  description:
    'The tools of a Python script, as "pungi wrap" found them. Where a description says "may be changed" or "may be set", a change is kept when the script is looked at again.',
  ...z.toJSONSchema(ToolsFile, { io: 'input' }),
});
