import {
  type CallToolResult,
  type Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { type Running, start } from '../../../cli/tests/pungi.js';
import { type ErrorCode, PungiError } from '../../../core/src/base/errors.js';
import { Outcome } from '../../../core/src/contract/outcome.js';
import type { RunRequest } from '../../../core/src/contract/run.js';
import { newClient } from '../../../server/tests/doors.js';
import { deferred } from '../../src/deferred.js';
import type { TestCluster } from '../cluster.js';

const ENV = {
  MAX_CONCURRENT_EXECUTIONS: '16',
  MAX_BACKGROUND_RUNS: '16',
  MAX_BACKGROUND_PER_CALLER: '16',
};
/** A client waits for so long: longer than any run takes. */
const CALL_MS = 900_000;
/** A call of a front end that was killed fails before its end is noticed. */
const NOTICED_MS = 5000;

/** One start of it. */
interface Life {
  running: Running;
  client: Client;
}

/** A front end in a process of its own, which is killed and started again. */
export class ChaosFront {
  /** Pending between two starts: calls wait for the next one. */
  #life = deferred<Life>();
  #running: Running | undefined;

  private constructor(private readonly cluster: TestCluster) {}

  static async open(cluster: TestCluster): Promise<ChaosFront> {
    const front = new ChaosFront(cluster);
    await front.start();
    return front;
  }

  async start(): Promise<void> {
    this.#life.resolve(await this.#begin());
  }

  signal(signal: NodeJS.Signals): void {
    this.#running?.child.kill(signal);
  }

  /** As a crash does. */
  async kill(): Promise<void> {
    this.#life = deferred<Life>();
    this.signal('SIGKILL');
    await this.#running?.ended;
  }

  /** Resolves to the outcome, or to undefined if the front end ended before it had answered. */
  async run(request: RunRequest): Promise<Outcome | undefined> {
    const answer = await this.#call(request, {});
    return answer && Outcome.parse(answer._meta?.['pungi/outcome']);
  }

  /** Resolves to the handle of a background run, or to undefined as `run` does. Rejects if it was not accepted. */
  async accept(request: RunRequest): Promise<string | undefined> {
    const answer = await this.#call(request, { background: true });
    if (answer === undefined) return undefined;
    const { run, error } = answer.structuredContent as {
      run?: string;
      error?: { code: ErrorCode; message: string };
    };
    if (error) throw new PungiError(error.code, error.message);
    return run;
  }

  async #begin(): Promise<Life> {
    const { nats, frontCreds } = this.cluster;
    const at = ['--cluster', nats.url, '--creds', frontCreds];
    // As a service manager does: without NATS, a front end does not start.
    for (let left = 20; ; left -= 1) {
      const running = start(['serve', '--http', '127.0.0.1:0', ...at], { env: ENV });
      this.#running = running;
      try {
        const [url] = /http:\S+\/mcp/.exec(await running.shows('stderr', /serves MCP at (\S+)/))!;
        const client = newClient('legacy');
        await client.connect(new StreamableHTTPClientTransport(new URL(url)));
        return { running, client };
      } catch (error) {
        running.child.kill('SIGKILL');
        if (left === 0) throw error;
      }
    }
  }

  async #call({ limits, ...request }: RunRequest, more: object): Promise<CallToolResult | undefined> {
    const { running, client } = await this.#life.promise;
    const call = { name: 'execute_python', arguments: { ...request, ...limits, ...more } };
    const ended = running.ended.then(() => undefined);
    const answer = client.callTool(call, { timeout: CALL_MS }).catch(async (error: unknown) => {
      const isAlive = new Promise<never>((_, reject) => setTimeout(reject, NOTICED_MS, error));
      return Promise.race([ended, isAlive]);
    });
    return Promise.race([answer as Promise<CallToolResult | undefined>, ended]);
  }
}
