import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Health, loadConfig, Outcome, Pungi } from '../../packages/pungi/src/index.js';
import { MAIN } from '../support/main.js';
import { ownFolders } from '../support/own-folders.js';
import type { Ingredient } from './mixture.js';

/** A Pungi under test, whichever way it is called. */
export interface Door {
  /** The process that must not grow. */
  readonly pid: number;
  /** How the run ended; undefined where a cancelled call has no answer. */
  run(ingredient: Ingredient): Promise<Outcome | undefined>;
  health(): Promise<Health>;
  /** The heap of the server without its garbage, where that can be looked at. */
  heapMb?(): number;
  close(): Promise<void>;
}

export type Settings = Record<string, string>;

export async function openLibrary(settings: Settings): Promise<Door> {
  const pungi = Pungi.start(loadConfig({ env: settings }));
  await pungi.ready();
  return {
    pid: process.pid,
    run({ arguments: { timeoutMs, memoryMb, ...request }, isCancelled }) {
      const cancel = new AbortController();
      const limits = { ...(timeoutMs && { timeoutMs }), ...(memoryMb && { memoryMb }) };
      const onLine = () => isCancelled && cancel.abort();
      return pungi.run({ ...request, limits }, { signal: cancel.signal, onLine });
    },
    health: () => pungi.health(),
    heapMb: () => ownHeapMb(),
    close: () => pungi.close(),
  };
}

function ownHeapMb(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1024 / 1024;
}

/** So that garbage is collected soon, and memory that stays is memory that leaked. */
const SMALL_HEAP = '--max-old-space-size=96';

/** The whole outcome of a run, as programs find it. */
const outcomeIn = ({ _meta }: CallToolResult) => Outcome.parse(_meta?.['pungi/outcome']);

export const openStdio =
  (mode: 'legacy' | { pin: string }) =>
  async (settings: Settings): Promise<Door> => {
    const client = new Client({ name: 'soak', version: '1.0.0' }, { versionNegotiation: { mode } });
    const { PATH = '', HOME = '' } = process.env;
    const env = { PATH, HOME, ...ownFolders(), ...settings };
    const args = [SMALL_HEAP, MAIN, 'serve'];
    const transport = new StdioClientTransport({ command: process.execPath, args, env });
    await client.connect(transport);
    const call = async (name: string, args: Record<string, unknown>, options = {}) =>
      client.callTool({ name, arguments: args }, options);
    return {
      pid: transport.pid!,
      async run({ arguments: args, isCancelled }) {
        if (!isCancelled) return outcomeIn(await call('execute_python', args));
        const cancel = new AbortController();
        const options = { signal: cancel.signal, onprogress: () => cancel.abort() };
        return call('execute_python', args, options).then(outcomeIn, (error: unknown) => {
          if (cancel.signal.aborted) return undefined;
          throw error;
        });
      },
      health: async () => Health.parse((await call('health_check', {})).structuredContent),
      close: () => client.close(),
    };
  };
