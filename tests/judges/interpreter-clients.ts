import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { loadConfig } from '../../packages/core/src/config/load.js';
import { Pungi } from '../../packages/core/src/pungi.js';
import { startHttp } from '../../packages/server/src/http.js';
import { DOORS, NO_ENVIRONMENTS, type Settings } from '../../packages/server/tests/doors.js';
import { MAIN } from '../support/main.js';
import { ownFolders } from '../support/own-folders.js';
import { ensureUv } from '../support/uv.js';

const run = promisify(execFile);

/** A client as a program that uses any SDK has it. */
export interface AnyClient {
  call(tool: string, args: Record<string, unknown>): Promise<CallToolResult>;
  read(uri: string): Promise<{ text?: string; blob?: string; mimeType?: string | undefined }>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

export interface ClientKind {
  name: string;
  connect(settings: Settings): Promise<AnyClient>;
}

/** The official client for TypeScript, in each era over each transport. */
const TYPESCRIPT: ClientKind[] = DOORS.map(({ era, transport, connect }) => ({
  name: `the TypeScript SDK, ${era}, over ${transport}`,
  connect: async (settings) => {
    const { client, close } = await connect(era, settings);
    return {
      call: (name, args) => client.callTool({ name, arguments: args }),
      read: async (uri) => (await client.readResource({ uri })).contents[0]!,
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      close,
    };
  },
}));

/** The same for Python. Its default is to ask for the newest protocol. */
const PYTHON: ClientKind[] = (['legacy', 'auto'] as const).flatMap((era) => [
  {
    name: `the Python SDK, ${era}, over stdio`,
    connect: (settings: Settings) =>
      startPython(era, [process.execPath, MAIN, 'serve'], {
        ...ownFolders(),
        ...NO_ENVIRONMENTS,
        ...settings,
      }),
  },
  {
    name: `the Python SDK, ${era}, over HTTP`,
    connect: async (settings: Settings) => {
      const pungi = Pungi.start(
        loadConfig({ env: { ...NO_ENVIRONMENTS, ...settings } }),
        undefined,
        'server',
      );
      const door = await startHttp(pungi);
      const client = await startPython(era, [door.url], {});
      const close = async () => {
        await client.close();
        await door.close();
        await pungi.close();
      };
      return { ...client, close };
    },
  },
]);

export const CLIENTS = [...TYPESCRIPT, ...PYTHON];

/** A program that speaks for us: one request and one answer a line. */
async function startPython(era: string, server: string[], settings: Settings): Promise<AnyClient> {
  const script = join(import.meta.dirname, 'python_sdk_client.py');
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(await ensurePythonSdk(), [script, era, ...server], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH, HOME, ...settings },
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ask = async (request: object) => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('The client in Python has ended.');
    const answer = JSON.parse(value) as Record<string, never> & { error?: string };
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  };
  return {
    call: async (tool, args) => (await ask({ tool, arguments: args })) as unknown as CallToolResult,
    read: async (uri) => ((await ask({ uri }))['contents'] as unknown as object[])[0]!,
    tools: async () => ((await ask({}))['tools'] as unknown as { name: string }[]).map(({ name }) => name),
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      await ended;
    },
  };
}

const SDK = 'mcp==2.3.0';
let python: Promise<string> | undefined;

/** The interpreter of an environment with the SDK, made once in a folder that git ignores. */
export function ensurePythonSdk(): Promise<string> {
  python ??= makeEnvironment();
  return python;
}

async function makeEnvironment(): Promise<string> {
  const uv = await ensureUv();
  const folder = join(import.meta.dirname, '../../.pungi-setup', `python-sdk-${SDK.replace('==', '-')}`);
  const interpreter = (of: string) => join(of, 'bin/python');
  if (existsSync(interpreter(folder))) return interpreter(folder);
  // Others may be making it, too: the first one that is complete counts.
  const making = `${folder}.${process.pid}`;
  await run(uv, ['venv', '--quiet', '--relocatable', '--python', '>=3.10', making]);
  await run(uv, ['pip', 'install', '--quiet', '--python', interpreter(making), SDK]);
  try {
    renameSync(making, folder);
  } catch {
    rmSync(making, { recursive: true, force: true });
  }
  return interpreter(folder);
}
