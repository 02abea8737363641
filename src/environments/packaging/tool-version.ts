import { runTool } from '../../sandbox/tool.js';
import type { PackagerSettings } from './packager.js';
import { toolEnvironment } from './tool-environment.js';

const TIMEOUT_MS = 30_000;

/** What a tool says of its version, or undefined if it cannot be run. */
export async function versionOf(
  settings: PackagerSettings,
  command: string,
  args: string[],
): Promise<string | undefined> {
  const { python, env, closing: signal } = settings;
  try {
    const end = await runTool(
      { python, command, args, env: toolEnvironment(env) },
      { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) },
    );
    return end.status === 0 ? /\d+\.\d+[\w.]*/.exec(end.stdout)?.[0] : undefined;
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

export function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [a = 0, b = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return a > major || (a === major && b >= minor);
}
