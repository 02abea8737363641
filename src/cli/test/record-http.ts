import { once } from 'node:events';
import { PungiError } from '../../base/errors.js';
import { ServerUnderTest } from '../../contract/spec.js';
import { HttpProxy } from '../../harness/record/http-proxy.js';
import { Recorder } from '../../harness/record/recorder.js';
import type { Answer } from '../act.js';
import type { RecordFlags } from './flags.js';
import { tell, tellRecorded, writeRecorded } from './recorded-file.js';

/** Between clients and a server that answers over HTTP, until the signal. */
export async function recordHttp(url: URL, flags: RecordFlags, signal: AbortSignal): Promise<Answer> {
  const { header = {}, port } = flags;
  const headers = Object.fromEntries(
    Object.entries(header).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const recorder = new Recorder();
  const proxy = await HttpProxy.start({
    url,
    port,
    headers,
    recorder,
    onCall: () => {
      const secret = new Set([...Object.keys(headers), ...proxy.credentials]);
      const references = [...secret].map((name) => [name, `\${env:${variableOf(name)}}`]);
      const server = { transport: 'http', url: url.href, headers: Object.fromEntries(references) };
      writeRecorded(recorder, { server: ServerUnderTest.parse(server), folder: process.cwd() }, flags);
    },
    onProblem: tell,
  }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EADDRINUSE' ? 'it is in use' : error.message;
    throw new PungiError('INVALID_INPUT', `Port ${port} cannot be had: ${why}.`);
  });
  tell(`give the client ${proxy.url} in place of ${url.href}; Ctrl-C ends`);
  if (!signal.aborted) await once(signal, 'abort');
  await proxy.close();
  tellRecorded(recorder, flags);
  return { text: '' };
}

/** What stands for a header in the file: its value is a matter of whoever runs the tests. */
const variableOf = (header: string) => header.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
