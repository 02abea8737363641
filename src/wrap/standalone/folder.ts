import { basename } from 'node:path';
import { PungiError } from '../../base/errors.js';
import type { ToolsFile } from '../../contract/wrap.js';
import type { ScriptLook } from '../discover/discover-script.js';
import { TOOLS_FILE, toolsFileText } from '../tools-file/make-tools-file.js';
import { toolsSchema } from '../tools-file/tools-schema.js';
import { configurationFiles } from './client-configuration.js';
import { readmeText } from './readme.js';
import { requirementsText } from './requirements.js';
import { wrapperText } from './wrapper.js';

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
  const scripts = [{ path: look.filename, content: look.code }, ...look.modules];
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
