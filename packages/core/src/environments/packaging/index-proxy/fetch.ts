import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { authorization } from '../index-reach.js';
import type { Outbound } from './outbound.js';

const TIMEOUT_MS = 60_000;
const MOST_REDIRECTS = 8;

/** A problem of a request to an index. The message contains no URL and no password. */
export class IndexTrouble extends Error {
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

export interface IndexRequest {
  method: 'GET' | 'HEAD';
  url: URL;
  /** The index; its credentials, if it has any, are sent only to its own host. */
  index: URL;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** Follows redirects. Returns an answer with status 200 or 206, and its URL; throws for other answers. */
export async function fetchFromIndex(
  request: IndexRequest,
  outbound: Outbound,
): Promise<{ answer: IncomingMessage; url: URL }> {
  let { url } = request;
  for (let turn = 0; turn <= MOST_REDIRECTS; turn += 1) {
    const answer = await ask({ ...request, url }, outbound);
    const status = answer.statusCode!;
    if (status === 200 || status === 206) return { answer, url };
    answer.destroy();
    const { location } = answer.headers;
    if (![301, 302, 303, 307, 308].includes(status) || location === undefined)
      throw new IndexTrouble(
        [401, 403, 404, 410, 416].includes(status) ? status : 502,
        `The index answered ${status}.`,
      );
    url = follow(url, location);
  }
  throw new IndexTrouble(502, 'The index redirects without end.');
}

export function resolveUrl(text: string, base: URL): URL | undefined {
  return URL.canParse(text, base.href) ? new URL(text, base) : undefined;
}

function follow(from: URL, location: string): URL {
  const to = resolveUrl(location, from);
  if (to?.protocol === 'https:' || (to?.protocol === 'http:' && from.protocol === 'http:')) return to;
  throw new IndexTrouble(502, 'The index redirects to an address that is not safe to follow.');
}

function ask(
  { method, url, index, headers, signal }: IndexRequest,
  outbound: Outbound,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { send, ...route } = outbound.route(url);
    const credentials = url.origin === index.origin ? authorization('authorization', index) : {};
    const request = send({
      ...route,
      method,
      headers: { 'user-agent': 'pungi', ...headers, ...route.headers, ...credentials },
      timeout: TIMEOUT_MS,
      signal,
    });
    request.on('response', resolve);
    request.on('timeout', () => request.destroy(new Error('it did not answer in time')));
    request.on('error', (error: NodeJS.ErrnoException) =>
      reject(new IndexTrouble(502, `The index cannot be reached: ${error.code ?? error.message}.`)),
    );
    request.end();
  });
}

/** Passes this many bytes, and fails at the next one. */
export function boundBytes(most: number): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      seen += chunk.length;
      if (seen > most) done(new IndexTrouble(502, 'The index sent more than a file or page may have.'));
      else done(null, chunk);
    },
  });
}

export async function readText(stream: Readable, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let seen = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    seen += chunk.length;
    if (seen > most) throw new IndexTrouble(502, 'The index sent more than a file or page may have.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
