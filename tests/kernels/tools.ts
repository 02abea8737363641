import { execFileSync, spawnSync } from 'node:child_process';

const TOOLS = {
  'qemu-system-x86_64': 'qemu-system-x86',
  'qemu-system-aarch64': 'qemu-system-arm',
  cpio: 'cpio',
  'dpkg-deb': 'dpkg',
};

/** The emulators and cpio: installed where this is Debian and we are root, named otherwise. */
export function ensureTools(): void {
  const isMissing = (tool: string) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', tool]).status !== 0;
  const packages = Object.entries(TOOLS)
    .filter(([tool]) => isMissing(tool))
    .map(([, name]) => name);
  if (packages.length === 0) return;
  if (process.getuid?.() !== 0 || isMissing('apt-get'))
    throw new Error(
      `The kernels are booted with ${packages.join(', ')}: install these packages of Debian first.`,
    );
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    stdio: 'ignore',
  });
}
