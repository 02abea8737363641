import { PungiError } from '../../base/errors.js';
import type { Answer, Surroundings } from '../act.js';
import { replaceableFile } from '../own-output.js';
import type { RecordFlags } from './flags.js';
import { recordHttp } from './record-http.js';
import { recordStdio } from './record-stdio.js';
import { addressOf } from './server.js';

/** `pungi test record`. */
export async function recordCalls(
  words: readonly string[],
  flags: RecordFlags,
  { steps: { signal } }: Surroundings,
): Promise<Answer> {
  const { url, output, force = false } = flags;
  if (flags.json)
    throw new PungiError('INVALID_INPUT', 'record has no --json: standard output belongs to the client.');
  if (words.length > 0 === (url !== undefined))
    throw new PungiError(
      'INVALID_INPUT',
      url === undefined
        ? 'Say which server: "-- COMMAND …" to start one, or --url for one that runs.'
        : 'Say in one way which server: a command, or --url.',
    );
  replaceableFile(output, force);
  return url === undefined ? recordStdio(words, flags, signal) : recordHttp(addressOf(url), flags, signal);
}
