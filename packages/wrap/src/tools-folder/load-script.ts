import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { PungiError, readBounded, sha256 } from '@pungi/core/base';
import { MAX_CODE_BYTES, type ToolsFile } from '@pungi/core/contract';
import { discoverScript, inputFiles, type PythonSide, type ScriptLook } from '../discover/discover-script.js';
import { availabilityOf, lookAt, type Script, type Surrounding } from '../discover/surrounding.js';
import { makeToolsFile, updateToolsFile } from '../tools-file/make-tools-file.js';
import { MAX_TOOLS_FILE_BYTES, readToolsFile } from '../tools-file/read-tools-file.js';
import { schemaFaults } from './schema-faults.js';
import type { ScriptInUse, ScriptSource } from './wrapped-script.js';

/**
 * Reads a script of the tools folder and finds its tools. Throws what is wrong with it, in words. Every file that this
 * depends on, whether it is there or not, is added to `paths`.
 */
export async function loadScript(
  folder: string,
  source: ScriptSource,
  side: PythonSide,
  paths: Set<string>,
  isFileTrusted = false,
): Promise<ScriptInUse> {
  const origin = join(folder, source.origin);
  paths.add(origin);
  const what = `"${source.origin}"`;
  const written =
    source.kind === 'script' ? null : readToolsFile(readTextFile(origin, MAX_TOOLS_FILE_BYTES, what), what);
  const path = written === null ? origin : await scriptPath(source, origin, written);
  paths.add(path);
  const filename = plainName(basename(path));
  const code = readTextFile(path, MAX_CODE_BYTES, `The script "${filename}"`);
  const real = await realpath(path);
  // A script may be a link to elsewhere; what it imports is then beside the file itself, as it is for Python.
  paths.add(real);
  const surrounding = written ?? { environment: null, profile: null };
  const availability = await availabilityOf(side, surrounding);
  const isClients = written?.wrappedBy === 'client';
  if (isClients && real !== path)
    throw new PungiError('INVALID_INPUT', `${what} cannot be used: its script is a link to elsewhere.`);
  // A client's script does not see what lies beside it, which is not the client's.
  const toolName = written?.name;
  const script = isClients
    ? { code, filename, toolName }
    : { code, path: real, filename, include: written?.include, toolName };
  const isLoaded = availability.trouble === null && !(isFileTrusted && written?.sha256 === sha256(code));
  const look = await lookIn(side, script, surrounding, isLoaded);
  for (const beside of besides(dirname(real), look)) paths.add(beside);
  const tools = toolsOf(source, filename, written, look);
  const files = inputFiles(look.modules);
  const firstImports = importedFromElsewhere(look);
  const since = Date.parse(tools.since ?? '') || (await madeAt(origin));
  const faults = await schemaFaults(tools.tools);
  const { package: within, problem } = look;
  return {
    tools,
    path: real,
    filename,
    package: within,
    code,
    files,
    firstImports,
    faults,
    since,
    availability,
    problem,
  };
}

/** Its tools are known without the place that it cannot run in; what that place lacks is not. */
async function lookIn(
  side: PythonSide,
  script: Script,
  surrounding: Surrounding,
  isLoaded: boolean,
): Promise<ScriptLook> {
  if (isLoaded) return (await lookAt(side, script, surrounding)).look;
  return { ...(await discoverScript(side, { ...script, isUnloadable: true })), missingImports: [] };
}

/** Some file systems do not know when a file was made. */
async function madeAt(path: string): Promise<number> {
  const { birthtimeMs, mtimeMs } = await stat(path);
  return birthtimeMs > 0 ? birthtimeMs : mtimeMs;
}

/**
 * What a person has written holds for the script that they have seen; a changed one is looked at anew. What surrounds the
 * script may have changed without it.
 */
function toolsOf(
  source: ScriptSource,
  filename: string,
  written: ToolsFile | null,
  look: ScriptLook,
): ToolsFile {
  if (written !== null) {
    if (written.sha256 !== look.sha256) return updateToolsFile(written, look);
    const missingImports = look.missingImports.map(({ module }) => module);
    return { ...written, missingImports, modules: look.modules.map(({ path }) => path) };
  }
  const { name } = source;
  return makeToolsFile(look, { name, script: filename, mode: 'auto', environment: null, profile: null });
}

/** Only a registration, which its owner put into the tools folder itself, may name a script that lies elsewhere. */
async function scriptPath(
  { kind, origin }: ScriptSource,
  file: string,
  { script }: ToolsFile,
): Promise<string> {
  const outside = (why: string) =>
    new PungiError(
      'INVALID_INPUT',
      `"${origin}" cannot be used: its script ${JSON.stringify(script)} ${why}.`,
    );
  if (isAbsolute(script)) {
    if (kind === 'registration') return resolve(script);
    throw outside('must be named by its path from this file');
  }
  const folder = await realpath(dirname(file));
  const path = resolve(folder, script);
  if (!path.startsWith(folder + sep)) throw outside('lies outside of the folder');
  const real = await realpath(path).catch(() => path);
  // At the top, a link was put there by the owner of the folder; a folder of its own may come from anywhere.
  if (kind === 'folder' && !real.startsWith(folder + sep)) throw outside('lies outside of the folder');
  return path;
}

/** Names with line breaks and such could say things of their own wherever they are shown. */
function plainName(filename: string): string {
  if (!/[\p{Cc}\p{Cf}\p{Cs}\\]|\ufffd/u.test(filename) && Buffer.byteLength(filename) <= 255) return filename;
  throw new PungiError(
    'INVALID_INPUT',
    `The script ${JSON.stringify(filename)} cannot be used: its name holds characters that no file name should. Rename it.`,
  );
}

/** What lies beside the script is no part of its environment. */
function importedFromElsewhere({ discovery, modules }: ScriptLook): string[] {
  const beside = new Set(modules.map(({ path }) => path.split(/[./]/, 1)[0]));
  return discovery.firstImports.filter((name) => !beside.has(name.split('.', 1)[0]));
}

/** What goes along, the folders that it is in, and where modules would be that were not found. */
function besides(folder: string, { modules, imports }: ScriptLook): string[] {
  const present = modules.map(({ path }) => path);
  const folders = present.map((path) => dirname(path)).filter((path) => path !== '.');
  const absent = imports.flatMap((name) => [`${name}.py`, name]);
  return [...present, ...folders, ...absent].map((path) => join(folder, path));
}

/** Reads a text file of the tools folder: a regular one, and not more of it than is allowed. */
function readTextFile(path: string, maxBytes: number, what: string): string {
  const refuse = (reason: string, isGone = false) =>
    new PungiError('INVALID_INPUT', `${what} cannot be used: ${reason}.`, { isGone });
  const read = readBounded(path, maxBytes);
  if ('problem' in read) throw refuse(read.problem, read.isMissing);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(read.bytes);
  } catch {
    throw refuse('it is not UTF-8 text');
  }
}

interface FilesState {
  /** Another text means that one of them was changed. */
  text: string;
  /** So lately that another change in the same moment could look the same. */
  isRecent: boolean;
}

const RECENT_MS = 2000;

export async function stateOf(paths: readonly string[]): Promise<FilesState> {
  const states = await Promise.all(
    paths.map((path) =>
      stat(path, { bigint: true }).then(
        ({ ino, size, mtimeNs, ctimeNs, ctimeMs }) => ({
          text: `${path} ${ino} ${size} ${mtimeNs} ${ctimeNs}`,
          at: Number(ctimeMs),
        }),
        () => ({ text: `${path} none`, at: 0 }),
      ),
    ),
  );
  const newest = Math.max(0, ...states.map(({ at }) => at));
  return {
    text: states.map(({ text }) => text).join('\n'),
    isRecent: Math.abs(Date.now() - newest) < RECENT_MS,
  };
}
