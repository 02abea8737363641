import { PungiError } from '../../base/errors.js';
import { countText } from '../../base/terminal.js';
import { specText } from '../../harness/init/spec-text.js';
import { type Recorder, recordedSpec } from '../../harness/record/recorder.js';
import { writeOwnFile } from '../own-output.js';
import type { RecordFlags } from './flags.js';
import type { Target } from './server.js';
import { serverFor } from './write-first-spec.js';

export const tell = (sentence: string): void => {
  process.stderr.write(`pungi: ${sentence}\n`);
};

/** Writes what has been recorded so far. The client goes on to be served, whatever comes of it. */
export function writeRecorded(
  { calls, server }: Recorder,
  target: Target,
  { output, exact: isExact = false }: RecordFlags,
): void {
  const name = server?.name ?? 'recorded';
  const specification = recordedSpec(calls, { name, server: serverFor(target, output), isExact });
  const comments = ['Written by "pungi test record". Run it with "pungi test".'];
  try {
    writeOwnFile(output, specText(comments, specification), true);
  } catch (error) {
    tell(PungiError.from(error).message);
  }
}

export const tellRecorded = ({ calls }: Recorder, { output }: RecordFlags): void =>
  tell(
    calls.length === 0
      ? 'no call was made, and nothing was written'
      : `${countText(calls.length, 'call')} in ${output}`,
  );
