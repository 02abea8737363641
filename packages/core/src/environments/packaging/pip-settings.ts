import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { PYTHON_HALF } from '../../sandbox/spawn.js';
import { runTool } from '../../sandbox/tool.js';

/** Where the user's pip gets packages from. */
export interface PipSettings {
  indexUrl: string | null;
  extraIndexUrls: string[];
  /** Addresses, and folders that exist. */
  findLinks: string[];
  noIndex: boolean;
  trustedHosts: string[];
  cert: string | null;
  clientCert: string | null;
  proxy: string | null;
  /** Seconds. */
  timeout: number | null;
  retries: number | null;
  constraints: string[];
  pre: boolean;
  keyringProvider: string | null;
}

const SCRIPT = join(PYTHON_HALF, 'pungi', 'tools', 'pip_settings.py');
const TIMEOUT_MS = 30_000;

/** Reads pip's configuration files and variables as pip does. `env` is the tool's environment. */
export async function readPipSettings(
  python: string,
  env: Record<string, string>,
  signal?: AbortSignal,
): Promise<PipSettings> {
  const end = await runTool(
    { python, command: python, args: ['-I', '-S', '-X', 'utf8', SCRIPT], env },
    { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) },
  );
  if (end.status === 0) return JSON.parse(end.stdout) as PipSettings;
  const why = end.stderr.trim().split('\n').at(-1);
  throw new PungiError('CONFIGURATION_ERROR', `pip's configuration cannot be read: ${why}`);
}
