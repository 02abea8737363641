import { lstatSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileProblem, PungiError, sha256, writeWhole } from '@pungi/core/base';
import type { ToolsFile } from '@pungi/core/contract';
import type { PythonSide } from '../discover/discover-script.js';
import { TOOLS_FILE } from '../tools-file/make-tools-file.js';
import { type WrapChoice, wrapScript } from '../tools-file/wrap-script.js';
import { checkToolsName, readRegistered, register, registeredPath, toolsNameOf } from './registrations.js';

/** A script that a client gives, or one of the server's that it may run. */
export type ClientScript = { filename: string; code: string } | { path: string; code: string };

export interface ClientChoice extends WrapChoice {
  /** Put it in the place of what has the name already. */
  replace?: boolean | undefined;
}

/** Beside no script of the owner's: what lies beside a script can be imported by it, and goes along with it. */
const CLIENTS = '.clients';

/** What was changed in the tools folder, for the record. */
export interface WrapChange {
  name: string;
  sha256: string;
  tools: string[];
  replaced: boolean;
}

/** Puts a script of a client into the tools folder: its text, or a registration of the place where it lies. */
export async function wrapIntoFolder(
  folder: string,
  side: PythonSide,
  script: ClientScript,
  { replace = false, ...choice }: ClientChoice,
): Promise<WrapChange> {
  const isGiven = 'filename' in script;
  const filename = isGiven ? checkFilename(script.filename) : basename(script.path);
  const name = isGiven ? filename.slice(0, -'.py'.length) : toolsNameOf(filename);
  const place = placeOf(folder, name);
  if (place.isTaken && !replace)
    throw invalid(`A script is wrapped as "${name}" already: choose another name, or pass replace: true.`);
  if (place.isTaken) requireOwn(place);
  const { file, look } = await wrapScript(side, { code: script.code, filename }, choice, {
    name,
    script: isGiven ? clientPath(name) : realpathSync(script.path),
    old: place.file,
    wrappedBy: 'client',
    since: place.file?.since ?? new Date().toISOString(),
  });
  // The registration first: it may hide what the script alone would offer, and says whose the script is.
  register(folder, name, file);
  if (isGiven) writeWhole(place.script, script.code);
  else if (place.isScriptOwn) remove(place.script);
  return { name, sha256: look.sha256, tools: file.tools.map((tool) => tool.name), replaced: place.isTaken };
}

/** Takes a client's script out of the tools folder. A script that lies elsewhere stays there. */
export function unwrapFromFolder(folder: string, name: string, known: readonly string[]): void {
  const place = placeOf(folder, checkToolsName(name));
  if (!place.isTaken)
    throw invalid(`No script is wrapped as "${name}"; there are ${known.join(', ') || 'none'}.`);
  requireOwn(place);
  // The script first: without its registration it would offer what that hides.
  if (place.isScriptOwn) remove(place.script);
  remove(place.registration);
}

/** What has a name in the tools folder. */
interface Place {
  name: string;
  registration: string;
  /** Where a script of the name lies, or would. */
  script: string;
  isTaken: boolean;
  /** The registration, where a client made it. */
  file: ToolsFile | undefined;
  /** The script is there, and is what a client gave. */
  isScriptOwn: boolean;
  /** It is there, but it is somebody else's. */
  isScriptForeign: boolean;
}

function placeOf(folder: string, name: string): Place {
  if (isThere(join(folder, name, TOOLS_FILE)))
    throw invalid(`"${name}" is a folder of its own in the tools folder, which its owner put there.`);
  const [registration, script] = [registeredPath(folder, name), join(folder, clientPath(name))];
  const [isRegistered, isScript] = [isThere(registration), isThere(script)];
  const isOwners = isThere(join(folder, `${name}.py`));
  const found = isRegistered ? readableRegistration(folder, name) : undefined;
  const file = found?.wrappedBy === 'client' ? found : undefined;
  const isScriptOwn =
    isScript &&
    file?.script === clientPath(name) &&
    lstatSync(script).isFile() &&
    hashOf(script) === file.sha256;
  const isScriptForeign = isOwners || (isScript && !isScriptOwn);
  return {
    name,
    registration,
    script,
    isTaken: isRegistered || isScript || isOwners,
    file,
    isScriptOwn,
    isScriptForeign,
  };
}

const clientPath = (name: string) => `${CLIENTS}/${name}.py`;

/** What a person has put into the folder is theirs, whatever a client asks for. */
function requireOwn({ name, file, isScriptForeign }: Place): void {
  if (file !== undefined && !isScriptForeign) return;
  const whose =
    file === undefined
      ? 'was not wrapped with wrap_script: it is for the owner of the server to replace or remove'
      : `was changed by somebody else since: what became of ${name}.py is for the owner of the server to replace or remove`;
  throw new PungiError('DENIED', `"${name}" ${whose}. Choose another name.`, { name });
}

/** One that cannot be read is nothing that a client wrote. */
function readableRegistration(folder: string, name: string): ToolsFile | undefined {
  try {
    return readRegistered(folder, name);
  } catch {
    return undefined;
  }
}

function checkFilename(filename: string): string {
  if (!filename.endsWith('.py')) throw invalid(`"${filename}" is no name of a script: it must end in ".py".`);
  checkToolsName(filename.slice(0, -'.py'.length));
  return filename;
}

const hashOf = (path: string) => sha256(readFileSync(path, 'utf8'));

const isThere = (path: string) => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};

function remove(path: string): void {
  try {
    rmSync(path);
  } catch (error) {
    throw invalid(`${path} cannot be removed: ${fileProblem(error)}.`);
  }
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);
