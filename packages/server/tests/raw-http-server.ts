import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { MAIN } from '../../../tests/support/main.js';
import { ownFolders } from '../../../tests/support/own-folders.js';
import { temporaryFolder } from '../../../tests/support/places.js';

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** One answer of JSON-RPC, as it came. */
export interface RawReply {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  error?: { code: number; message: string };
  result?: Record<string, unknown>;
}

/** A server in a process of its own, spoken to in bytes that no client library would send. */
export class RawHttpServer {
  readonly #child: ChildProcess;
  readonly #url: string;
  #session: string | undefined;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  static async start(settings: Record<string, string> = {}): Promise<RawHttpServer> {
    const { PATH = '', HOME = '' } = process.env;
    const place = temporaryFolder();
    const own = {
      VENVS_BASE_PATH: join(place, 'venvs'),
      AUDIT_DIR: join(place, 'audit'),
      TOOLS_DIR: 'off',
      // Whatever is asked to be installed is nowhere.
      UV_DEFAULT_INDEX: 'http://127.0.0.1:9/simple',
      UV_OFFLINE: '1',
    };
    const child = spawn(process.execPath, [MAIN, 'serve', '--http', '127.0.0.1:0'], {
      env: { PATH, HOME, ...ownFolders(), ...own, ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said: string[] = [];
    for await (const line of createInterface(child.stderr!)) {
      said.push(line);
      const [url] = /http:\/\/\S+\/mcp/.exec(line) ?? [];
      if (url === undefined) continue;
      child.stderr!.resume();
      return new RawHttpServer(child, url);
    }
    throw new Error(`the server did not start: ${said.join('\n')}`);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get url(): string {
    return this.#url;
  }

  /** What it holds now, in MB. */
  get rssMb(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  /** The answer to a message; what came before it on the stream is notifications. */
  async send(message: string): Promise<RawReply> {
    this.#session ??= await this.#initialize();
    const { body } = await this.#post(message, { 'mcp-session-id': this.#session });
    const messages = body.startsWith('{')
      ? [body]
      : body.split('\n').filter((line) => line.startsWith('data: '));
    const replies = messages.map((line) => JSON.parse(line.replace(/^data: /, '')) as RawReply);
    const answers = replies.filter(({ method }) => method === undefined);
    if (answers.length !== 1) throw new Error(`expected one answer, got ${body.slice(0, 500)}`);
    return answers[0]!;
  }

  run(code: string, id = 7): Promise<RawReply> {
    const params = { name: 'execute_python', arguments: { code }, _meta: { progressToken: 'token' } };
    return this.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
  }

  async close(): Promise<void> {
    if (!this.isAlive) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }

  async #initialize(): Promise<string> {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const { headers } = await this.#post(message, {});
    return String(headers['mcp-session-id']);
  }

  async #post(body: string, headers: Record<string, string>) {
    const req = request(this.#url, { method: 'POST', headers: { ...HEADERS, ...headers } });
    req.on('error', () => {}).end(body);
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    return { headers: res.headers, body: await text(res) };
  }
}
