import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline as compose } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { PungiError } from '../../base/errors.js';
import { Semaphore } from '../../base/turns.js';
import { type ProxyHandler, startProxyServer, TIMEOUTS } from '../../network/proxy-server.js';
import { Capacity, RunConnections } from '../../network/run-connections.js';
import {
  boundBytes,
  fetchFromIndex,
  type IndexRequest,
  IndexTrouble,
  readText,
} from './index-proxy/fetch.js';
import { Outbound } from './index-proxy/outbound.js';
import {
  HTML_PAGE,
  JSON_PAGE,
  type ProjectFile,
  parsePage,
  renderHtml,
  renderJson,
} from './index-proxy/page.js';

const PAGE_PATH = /^\/simple\/(\d{1,3})\/([a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9])\/$/;
const FILE_PATH = /^\/file\/(\d{1,3})\/([0-9a-f]{32})\/([^/?#]+)$/;
const LONGEST_PATH = 512;
const MOST_PAGE_BYTES = 32 * 1024 ** 2;
/** Pages are held in memory, so few are fetched at a time. */
const PAGES_AT_A_TIME = 4;
const MOST_FILE_BYTES = 8 * 1024 ** 3;
/** The name by which the forwarder of a build jail identifies itself. */
const CALLER = 'build';
const ACCEPTED = `${JSON_PAGE}, ${HTML_PAGE};q=0.2, text/html;q=0.1`;
/** Prevents a second download, and build, of the same file: the cache lives only as long as the build. */
const KEEP = { 'cache-control': 'max-age=86400' };
const PASSED_HEADERS = [
  'content-length',
  'content-type',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
];

export interface IndexProxySettings {
  /** The URLs of the indexes, which may contain credentials. */
  indexes: string[];
  /** The variables that name proxies and certificates. */
  env?: Readonly<Record<string, string | undefined>>;
}

export interface IndexProxy {
  /** The URLs at this proxy: /simple/0/ is the first index, and so on. */
  socket: string;
  /** Problems of requests to the indexes, as sentences. */
  problems: string[];
  close(): Promise<void>;
}

/**
 * Serves project pages and the files that they offer to a build, and nothing else of the network. Files are requested by the
 * number that a page has for them, so a build cannot request a URL of its choice.
 */
export async function startIndexProxy({
  indexes,
  env = process.env,
}: IndexProxySettings): Promise<IndexProxy> {
  const handler = new IndexHandler(indexes.map(parseIndex), new Outbound(env));
  const server = await startProxyServer(handler, TIMEOUTS, new Capacity());
  server.admit(CALLER, new RunConnections(CALLER, () => {}));
  const close = async () => {
    await server.close();
    handler.close();
  };
  return { socket: server.socket, problems: handler.problems, close };
}

function parseIndex(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new PungiError(
      'CONFIGURATION_ERROR',
      'Source distributions can be built only from indexes with an http or https address.',
    );
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

class IndexHandler implements ProxyHandler {
  readonly problems: string[] = [];
  readonly #indexes: URL[];
  readonly #outbound: Outbound;
  readonly #offered = new OfferedFiles();
  readonly #pages = new Semaphore(PAGES_AT_A_TIME);

  constructor(indexes: URL[], outbound: Outbound) {
    this.#indexes = indexes;
    this.#outbound = outbound;
    // Reports an unusable proxy now instead of with every request.
    for (const index of indexes) outbound.route(index);
  }

  close(): void {
    this.#outbound.close();
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      await this.#choose(request, response, gone.signal);
    } catch (error) {
      if (gone.signal.aborted) return;
      const trouble =
        error instanceof IndexTrouble ? error : new IndexTrouble(502, 'The index gave what is not a page.');
      this.#note(trouble);
      if (response.headersSent) response.destroy();
      else send(response, trouble.status, 'text/plain', `${trouble.message}\n`);
    }
  }

  async #choose(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { method, url: path = '' } = request;
    if (method !== 'GET' && method !== 'HEAD') return send(response, 405, 'text/plain', '');
    const [, pageOf, project] = (path.length <= LONGEST_PATH && PAGE_PATH.exec(path)) || [];
    const [, fileOf, id, name] = (path.length <= LONGEST_PATH && FILE_PATH.exec(path)) || [];
    const index = this.#indexes[Number(pageOf ?? fileOf)];
    if (index && project) {
      const page = () => this.#readPage(index, Number(pageOf), project, signal);
      return sendPage(request, response, project, await this.#pages.take(page));
    }
    const file = id && name && this.#offered.find(Number(fileOf), id, name);
    if (index && file) return this.#giveFile({ method, url: file, index, signal }, request, response);
    send(response, 404, 'text/plain', '');
  }

  /** Returns the files of a project, each with its URL at this proxy. */
  async #readPage(index: URL, number: number, project: string, signal: AbortSignal): Promise<ProjectFile[]> {
    const headers = { accept: ACCEPTED, 'accept-encoding': 'gzip' };
    const wanted = { method: 'GET', url: new URL(`${project}/`, index), index, headers, signal } as const;
    const { answer, url } = await fetchFromIndex(wanted, this.#outbound);
    const isPacked = answer.headers['content-encoding'] === 'gzip';
    const body = isPacked ? compose(answer, createGunzip(), () => {}) : answer;
    const text = await readText(body, MOST_PAGE_BYTES);
    const files = parsePage(text, answer.headers['content-type'] ?? '', url);
    return files.flatMap((file) => this.#offered.offer(number, file));
  }

  async #giveFile(
    wanted: Omit<IndexRequest, 'headers'>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const range = /^bytes=\d*-\d*$/.exec(request.headers.range ?? '')?.[0];
    const headers = { 'accept-encoding': 'identity', ...(range && { range }) };
    const { answer } = await fetchFromIndex({ ...wanted, headers }, this.#outbound);
    if (Number(answer.headers['content-length'] ?? 0) > MOST_FILE_BYTES) {
      answer.destroy();
      throw new IndexTrouble(502, 'The index offers a file that is too large.');
    }
    const passed = PASSED_HEADERS.flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    response.writeHead(answer.statusCode!, { ...KEEP, ...Object.fromEntries(passed) });
    await pipeline(answer, boundBytes(MOST_FILE_BYTES), response);
  }

  /** Notes a problem. A missing project is none: resolvers request many that do not exist. */
  #note({ status, message }: IndexTrouble): void {
    if (status !== 404 && !this.problems.includes(message)) this.problems.push(message);
  }
}

function sendPage(
  { headers }: IncomingMessage,
  response: ServerResponse,
  project: string,
  files: ProjectFile[],
): void {
  if (headers.accept?.includes(JSON_PAGE)) send(response, 200, JSON_PAGE, renderJson(project, files), KEEP);
  else send(response, 200, 'text/html; charset=utf-8', renderHtml(files), KEEP);
}

/** Node omits the body of an answer to HEAD. */
function send(response: ServerResponse, status: number, type: string, text: string, more = {}): void {
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(text), ...more };
  response.writeHead(status, headers).end(text);
}

const FILENAME = /^[A-Za-z0-9_][A-Za-z0-9._+!-]{0,254}$/;
/** More than the largest projects together; a build that wants more is filling the server's memory. */
const MOST_OFFERED = 300_000;

interface Offer {
  index: number;
  filename: string;
  url: string;
}

/** The files that pages have offered: only these can be downloaded, each under an opaque number. */
class OfferedFiles {
  readonly #offers = new Map<string, Offer>();
  readonly #ids = new Map<string, string>();

  /** Returns the file with an address at the proxy, or nothing if it has no valid address. */
  offer(index: number, file: ProjectFile): ProjectFile[] {
    const { filename, url } = file;
    if (!FILENAME.test(filename) || !/^https?:/.test(url)) return [];
    const key = `${index} ${filename} ${url}`;
    let id = this.#ids.get(key);
    if (id === undefined) {
      if (this.#offers.size >= MOST_OFFERED) throw new IndexTrouble(429, 'Too many projects were asked for.');
      id = randomBytes(16).toString('hex');
      this.#ids.set(key, id);
      this.#offers.set(id, { index, filename, url });
    }
    return [{ ...file, url: `/file/${index}/${id}/${encodeURIComponent(filename)}` }];
  }

  /** Returns the address of an offered file, or of its metadata. */
  find(index: number, id: string, name: string): URL | undefined {
    const offer = this.#offers.get(id);
    if (offer?.index !== index) return undefined;
    const encoded = encodeURIComponent(offer.filename);
    const asked = [name, name.replaceAll('+', '%2B')];
    const url = new URL(offer.url);
    url.hash = '';
    if (asked.includes(encoded)) return url;
    if (!asked.includes(`${encoded}.metadata`)) return undefined;
    url.pathname += '.metadata';
    return url;
  }
}
