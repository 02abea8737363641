import { basename } from 'node:path';
import { distributionFor } from '@pungi/core';
import { PungiError } from '@pungi/core/base';
import { ToolsFile } from '@pungi/core/contract';
import { z } from 'zod';
import type { ScriptLook } from '../discover/discover-script.js';
import { freeName } from '../tools-file/choose-tools.js';
import { TOOLS_FILE, toolsFileText } from '../tools-file/make-tools-file.js';
import { toolsNameOf } from '../tools-folder/registrations.js';
import { wrapperText } from './bundle.js';
import { configurationFiles, readmeText } from './readme.js';

/** A file of the folder, by its path from it. */
export interface FolderFile {
  path: string;
  content: string | Buffer;
}

export const REQUIREMENTS_FILE = 'requirements.txt';
const SCHEMA_FILE = 'tools.schema.json';

/** A script of the folder: its tools file, what is known of it, and the package that it is a program of. */
export interface FolderScript {
  file: ToolsFile;
  look: ScriptLook;
  requirement?: string | undefined;
}

/** Everything that a folder holds which runs with nothing but Python. The tools of its scripts have different names (ownNames). */
export function folderFiles(folder: string, name: string, scripts: readonly FolderScript[]): FolderFile[] {
  const texts = scripts.map(neededText).filter((text) => text !== null);
  const requirements = texts.length === 0 ? null : texts.join('');
  const configurations = configurationFiles(name, basename(folder));
  const files = scripts.map(({ file }) => file);
  const own: FolderFile[] = [
    { path: 'wrapper.py', content: wrapperText() },
    { path: SCHEMA_FILE, content: jsonText(toolsSchema()) },
    { path: 'README.md', content: readmeText({ name, files, requirements, configurations }) },
    ...(requirements === null ? [] : [{ path: REQUIREMENTS_FILE, content: requirements }]),
    ...configurations.map(({ path, content }) => ({ path, content: jsonText(content) })),
    // The last: where the others are not all there, nobody takes the folder for whole.
    ...files.map((file) => ({
      path: files.length === 1 ? TOOLS_FILE : `${toolsNameOf(basename(file.script))}.${TOOLS_FILE}`,
      content: toolsFileText({ $schema: `./${SCHEMA_FILE}`, ...file }),
    })),
  ];
  const shared = sharedFiles(scripts);
  const clash = shared.find(({ path }) => own.some((file) => areInEachOthersWay(path, file.path)));
  if (clash !== undefined) {
    throw new PungiError(
      'INVALID_INPUT',
      `"${clash.path}" cannot go into the folder: a file of the wrapper has that name. Rename it.`,
    );
  }
  return [...shared, ...own];
}

/** The scripts and what goes along with them. Two of them may bring the same file, but not two of one name. */
function sharedFiles(scripts: readonly FolderScript[]): FolderFile[] {
  const found = new Map<string, FolderFile & { of: string }>();
  for (const { look } of scripts) {
    const within = look.package === undefined ? '' : `${look.package.replaceAll('.', '/')}/`;
    for (const { path, content } of [
      { path: `${within}${look.filename}`, content: look.code },
      ...look.modules,
    ]) {
      const other = found.get(path);
      if (other !== undefined && !Buffer.from(other.content).equals(Buffer.from(content)))
        throw new PungiError(
          'INVALID_INPUT',
          `"${path}" of ${other.of} and of ${look.filename} are different files: write them to different folders.`,
        );
      found.set(path, { path, content, of: look.filename });
    }
  }
  return [...found.values()].map(({ path, content }) => ({ path, content }));
}

/** Gives a tool whose name an earlier script has its script's name in front, as in the tools folder. */
export function ownNames(files: readonly ToolsFile[]): ToolsFile[] {
  const taken = new Set<string>();
  return files.map((file) => {
    const tools = file.tools.map((tool) => {
      const name = taken.has(tool.name) ? freeName(`${file.name}_${tool.name}`, '', taken) : tool.name;
      taken.add(name);
      return { ...tool, name };
    });
    return { ...file, tools };
  });
}

/** The same file, also where case does not count, or one is a folder that the other is in. */
function areInEachOthersWay(one: string, other: string): boolean {
  const [first, second] = [`${one.toLowerCase()}/`, `${other.toLowerCase()}/`];
  return first.startsWith(second) || second.startsWith(first);
}

const jsonText = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

const neededText = ({ file, look, requirement }: FolderScript): string | null =>
  requirement === undefined ? requirementsText(look) : render(`The package of ${file.name}.`, [requirement]);

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
