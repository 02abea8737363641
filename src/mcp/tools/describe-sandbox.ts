import type { ToolAnnotations } from '@modelcontextprotocol/server';
import type { Config } from '../../config/schema.js';
import type { Profiles } from '../../gate/profiles/profiles.js';
import { describeImports } from './describe-environments.js';

const seconds = (ms: number) => `${ms / 1000} s`;
const kilobytes = (bytes: number) => `${Math.floor(bytes / 1024)} KB`;

/** What an agent must know to write code that works here at the first attempt. */
export function describeSandbox(config: Config, { usable }: Profiles): string {
  const network = usable.some(({ allowedHosts }) => allowedHosts.length > 0)
    ? 'no network but the hosts that its profile allows'
    : 'no network';
  const isolation = config.allowUnsandboxed
    ? 'Every call is a fresh process. This server may run without isolation: health_check tells the tier in force.'
    : `Every call is a fresh sandboxed process: ${network}, no access to the host, and nothing is kept for the next call.`;
  return [
    isolation,
    'Code starts in a private, writable work folder, which holds the given files and is gone afterwards: print or return what you need.',
    describeImports(config),
    `Limits, unless you ask for others: ${seconds(config.executionTimeoutMs)} wall time, ${seconds(config.maxCpuMs)} CPU time, ${config.maxMemoryMb} MB memory, ` +
      `${config.maxProcesses} processes and threads, ${config.maxDiskMb} MB disk, ` +
      `${kilobytes(config.maxOutputBytes)} kept of stdout and of stderr.`,
    'A failure is an error result whose first line is a code and a sentence, such as PYTHON_ERROR or EXECUTION_TIMEOUT.',
  ].join('\n');
}

/**
 * Honest about the process tier, which does not isolate: there, code can reach whatever the server's user can. And about
 * inline dependencies: the code itself has no network, but what it asks for comes from the package index.
 */
export const executeAnnotations = ({ allowUnsandboxed }: Config): ToolAnnotations => ({
  readOnlyHint: false,
  destructiveHint: allowUnsandboxed,
  idempotentHint: false,
  openWorldHint: true,
});
