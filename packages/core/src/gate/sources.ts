import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { invalidInput } from '../base/errors.js';
import { InputFile, type LocalInputs, type RunRequest } from '../contract/run.js';
import { LiveInput } from '../runtime/live-input.js';
import type { Source } from '../runtime/source-sender.js';
import { invalidRequest } from './parse-request.js';

/** Returns the path of an upload of the caller. */
export type OpenUpload = (upload: string) => Promise<string>;

/** Returns the files of this machine that a run gets. Throws INVALID_INPUT for one that is not a regular file. */
export async function sourcesOf(
  { stdin, inputData, files: given = [] }: RunRequest,
  { files = [], stdin: stdinFile }: LocalInputs,
  openUpload: OpenUpload,
): Promise<Source[]> {
  if (stdinFile !== undefined && (stdin !== undefined || inputData !== undefined))
    throw invalidInput('Standard input is given twice: give either a file, or stdin or inputData.');
  for (const { path } of files) {
    const parsed = InputFile.shape.path.safeParse(path);
    if (!parsed.success) throw invalidInput(`The file "${path}" ${parsed.error.issues[0]!.message}.`);
  }
  if (given.length + files.length === 0 && stdinFile === undefined) return [];
  const uploads = given.flatMap(({ path, upload }) => (upload === undefined ? [] : [{ path, upload }]));
  const opened = await Promise.all(
    uploads.map(async ({ path, upload }) => ({ path, from: await openUpload(upload) })),
  );
  const named = [...opened, ...files, ...(stdinFile === undefined ? [] : [{ path: null, from: stdinFile }])];
  return Promise.all(named.map(({ path, from }) => sourceOf(path, resolve(from))));
}

async function sourceOf(path: string | null, from: string): Promise<Source> {
  const about = await stat(from).catch((error: NodeJS.ErrnoException) => {
    throw invalidInput(
      `${from} cannot be read: ${error.code === 'ENOENT' ? 'it does not exist' : error.code}.`,
    );
  });
  if (!about.isFile()) throw invalidInput(`${from} is not a regular file; copy its content into one.`);
  return { path, from, size: about.size };
}

/** Returns standard input that is read while the run goes on. Throws INVALID_INPUT beside another one, and in a session. */
export function liveInput({ session, stdin, inputData }: RunRequest, local: LocalInputs): LiveInput {
  if (session !== undefined) throw invalidRequest(['a session reads no stream: give stdin']);
  if ([stdin, inputData, local.stdin].some((given) => given !== undefined))
    throw invalidRequest(['standard input is given twice']);
  return new LiveInput(local.stdinStream!);
}
