import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  LOG_LEVEL_META_KEY,
  type StandardSchemaV1,
  type Tool,
} from '@modelcontextprotocol/client';
import type { SuiteReport } from '@pungi/core/contract';
import type { ServerProcess } from '@pungi/core/processes';
import type { Answer, JsonMap } from '../judge/answer.js';
import type { AnswersToServer } from './answers-to-server.js';
import type { HttpTransport } from './http-transport.js';
import { explain, ServerFault } from './server-fault.js';
import { endedFault, type StdioTransport } from './stdio-transport.js';

const QUIET_MS = 30;
const MOST_TURNS = 10;

export interface RequestSettings {
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onProgress?: (() => void) | undefined;
  /** Request log messages, if the server sends none by default. */
  wantsLogs?: boolean;
}

/** We judge the answer ourselves, so the SDK must not change it. */
const UNCHANGED: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'pungi', validate: (value) => ({ value }) },
};

/** How long the process may outlive its connection. */
const EXIT_LAG_MS = 300;

/** A client connected to the server under test. */
export class Connection {
  readonly client: Client;
  readonly asked: AnswersToServer;
  readonly process: ServerProcess | undefined;
  readonly #transport: StdioTransport | HttpTransport;
  readonly #shutdownMs: number;
  readonly #readsInput: boolean;
  #tokens = 0;
  #tools: Promise<Map<string, Tool>> | undefined;

  constructor(parts: {
    client: Client;
    asked: AnswersToServer;
    transport: StdioTransport | HttpTransport;
    process: ServerProcess | undefined;
    shutdownMs: number;
    readsInput: boolean;
  }) {
    this.client = parts.client;
    this.asked = parts.asked;
    this.process = parts.process;
    this.#transport = parts.transport;
    this.#shutdownMs = parts.shutdownMs;
    this.#readsInput = parts.readsInput;
  }

  get server(): NonNullable<SuiteReport['server']> {
    const { name = 'unknown', version = '' } = this.client.getServerVersion() ?? {};
    return { name, version, protocol: this.client.getNegotiatedProtocolVersion() ?? '' };
  }

  get isModern(): boolean {
    return this.client.getProtocolEra() === 'modern';
  }

  get isUsable(): boolean {
    return this.#transport.fault === undefined && this.process?.end === undefined;
  }

  get traffic() {
    return this.#transport.traffic;
  }

  /** Returns what the process wrote to stderr (with HTTP, also to stdout) since the mark. */
  stderrSince(mark: number): string {
    return this.process?.stderr.since(mark) ?? '';
  }

  /** Resolves when stderr has been quiet for a moment: it arrives separately from its answer. */
  async drainStderr(): Promise<void> {
    for (let turn = 0; turn < MOST_TURNS; turn += 1) {
      const mark = this.stderrMark();
      await pause(QUIET_MS);
      if (this.stderrMark() === mark) return;
    }
  }

  stderrMark(): number {
    return this.process?.stderr.mark() ?? 0;
  }

  /** Returns the answer; throws a ServerFault if there is none. */
  async request(
    method: string,
    params: JsonMap,
    settings: RequestSettings,
  ): Promise<Answer | { raw: unknown }> {
    const { timeoutMs, signal, onProgress, wantsLogs = false } = settings;
    const oddBefore = this.traffic.odd;
    this.#tokens += 1;
    const token = `pungi-${this.#tokens}`;
    const meta = {
      ...(wantsLogs && this.isModern ? { [LOG_LEVEL_META_KEY]: 'debug' } : {}),
      ...(onProgress === undefined ? {} : { progressToken: token }),
    };
    const asked = Object.keys(meta).length === 0 ? params : { ...params, _meta: meta };
    const deaf = onProgress === undefined ? undefined : this.traffic.onProgress(token, onProgress);
    try {
      const raw = await this.client.request({ method, params: asked }, UNCHANGED, {
        timeout: timeoutMs,
        maxTotalTimeout: timeoutMs,
        ...(signal === undefined ? {} : { signal }),
      });
      return { raw };
    } catch (error) {
      if (signal?.aborted) return { kind: 'cancelled' };
      const found = explain(error, timeoutMs);
      if (!(found instanceof ServerFault)) return found;
      throw await this.#whole(found, oddBefore);
    } finally {
      deaf?.();
    }
  }

  /** Whether it still answers. Pings exist only in the older era. */
  async answersWithin(timeoutMs: number): Promise<boolean> {
    try {
      await this.client.request({ method: this.isModern ? 'server/discover' : 'ping' }, UNCHANGED, {
        timeout: timeoutMs,
      });
      return true;
    } catch (error) {
      return explain(error, timeoutMs) instanceof ServerFault === false;
    }
  }

  /** The advertised tools, requested once; empty if that fails, because the calls will report it. */
  tools(timeoutMs: number): Promise<Map<string, Tool>> {
    return this.advertised(timeoutMs).catch(() => new Map());
  }

  /** Like `tools`, but it throws errors. */
  advertised(timeoutMs: number): Promise<Map<string, Tool>> {
    this.#tools ??= this.#listTools(timeoutMs);
    return this.#tools;
  }

  async #listTools(timeoutMs: number): Promise<Map<string, Tool>> {
    // The limit is for all pages together: each of many may be just in time.
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const { tools } = await this.client.listTools(undefined, { timeout: timeoutMs, signal });
      return new Map(tools.map((tool) => [tool.name, tool]));
    } catch (error) {
      if (signal.aborted)
        throw new ServerFault(
          'timeout',
          `The server did not list its tools within ${timeoutMs / 1000} seconds.`,
        );
      throw error;
    }
  }

  /** Stops the server with all its processes. Returns a fault if it did not exit cleanly. */
  async close(): Promise<ServerFault | undefined> {
    const wasUsable = this.isUsable;
    // Over stdio, its last messages are still read; over HTTP, the session is closed first.
    if (!this.#readsInput) await this.client.close().catch(() => {});
    const how = await this.process?.stop(this.#shutdownMs, { readsInput: this.#readsInput });
    await this.client.close().catch(() => {});
    if (how !== 'killed' || !wasUsable) return undefined;
    const seconds = this.#shutdownMs / 1000;
    const after = this.#readsInput ? 'the end of its input and SIGTERM' : 'SIGTERM';
    return new ServerFault(
      'server',
      `The server did not end within ${seconds} seconds of ${after}, and was killed.`,
    );
  }

  /** Adds known details to a fault. */
  async #whole(fault: ServerFault, oddBefore: number): Promise<ServerFault> {
    const end = await this.#recentEnd(fault);
    const known = this.#transport.fault ?? (end === undefined ? fault : endedFault(end));
    const meanwhile = this.traffic.oddities(oddBefore).filter((one) => !known.message.includes(one));
    if (meanwhile.length === 0 || known.kind === 'server') return known;
    return new ServerFault(known.kind, `${known.message} ${meanwhile.slice(0, 3).join(' ')}`);
  }

  async #recentEnd({ kind }: ServerFault) {
    if (this.process === undefined || kind !== 'server' || this.#transport.fault !== undefined)
      return undefined;
    const lag = pause(EXIT_LAG_MS, undefined, { ref: false });
    return Promise.race([this.process.exited, lag]);
  }
}
