import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PungiError } from '../../base/errors.js';
import { countText, printable } from '../../base/terminal.js';
import type { LoadedSpecification } from '../../harness/spec/load.js';
import type { Answer, Surroundings } from '../act.js';

/** Looked at by their times: editors replace files rather than write them, which notices of the system miss. */
const LOOK_EVERY_MS = 250;

/** Does it again whenever one of the files changes that it says it has read, until the signal. */
export async function watchFiles(
  round: (onFiles: (files: readonly string[]) => void) => Promise<Answer>,
  { steps: { signal }, style }: Surroundings,
): Promise<Answer> {
  let files: readonly string[] = [];
  let seen = '';
  let status = 0;
  while (!signal.aborted) {
    // From before they are read: a file that is being written is read again when it is whole.
    const before = new Map(files.map((file) => [file, stateOf(file)]));
    try {
      const done = await round((read) => {
        files = read;
        seen = read.map((file) => before.get(file) ?? stateOf(file)).join('\n');
      });
      process.stdout.write(done.text);
      status = done.status ?? 0;
    } catch (thrown) {
      const error = PungiError.from(thrown);
      // What cannot be mended in a file is not waited for.
      if (files.length === 0 || error.code === 'INTERNAL_ERROR') throw error;
      process.stdout.write(`pungi: ${printable(error.message)}\n`);
    }
    if (signal.aborted) break;
    process.stdout.write(`${style('dim', `Watching ${countText(files.length, 'file')}; Ctrl-C ends.`)}\n`);
    await changed(() => files.map(stateOf).join('\n'), seen, signal);
    if (!signal.aborted) process.stdout.write('\n');
  }
  return { text: '', status };
}

/** Resolves when the state is another one and stays so: files are written in more than one step. */
async function changed(look: () => string, seen: string, signal: AbortSignal): Promise<void> {
  let [state, before] = [look(), seen];
  while (!signal.aborted && (state === seen || state !== before)) {
    await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    [state, before] = [look(), state];
  }
}

function stateOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? 'none' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

/** The files that a server is started with: a change of the server is a reason to test it again. */
export function filesOfServer({ file, specification }: LoadedSpecification): string[] {
  const { server } = specification;
  if (server === undefined) return [];
  const folder = resolve(file, '..', server.working_dir ?? '.');
  return [server.command ?? '', ...server.args]
    .filter((word) => word !== '' && !word.startsWith('-'))
    .map((word) => resolve(folder, word))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}
