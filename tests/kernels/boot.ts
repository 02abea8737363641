import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { GuestReport } from './guest-report.js';
import type { Guest } from './guests.js';
import type { Image } from './image.js';

const MACHINES = {
  amd64: { program: 'qemu-system-x86_64', args: ['-cpu', 'max'], console: 'ttyS0' },
  arm64: { program: 'qemu-system-aarch64', args: ['-machine', 'virt', '-cpu', 'max'], console: 'ttyAMA0' },
};
const LAST_LINES = 60;

export interface BootReport {
  said: GuestReport[];
  /** The last lines of the console, for a guest that did not come to its end. */
  console: string;
}

/** Boots the image in software emulation and collects what the program inside reports. */
export async function boot(guest: Guest, image: Image): Promise<BootReport> {
  const machine = MACHINES[guest.architecture];
  const append = `console=${machine.console} quiet panic=-1 loglevel=3 no_timer_check ${guest.kernelOptions ?? ''}`;
  const args = [
    ...machine.args,
    ...['-accel', 'tcg,thread=multi', '-smp', '2', '-m', '2560', '-nographic', '-no-reboot', '-nic', 'none'],
    ...['-kernel', image.kernel, '-initrd', image.initrd, '-append', append],
  ];
  const child = spawn(machine.program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const said: GuestReport[] = [];
  const failed = new Promise<never>((_, reject) => {
    child.once('error', () =>
      reject(
        new Error(
          `${machine.program} cannot be started: install Debian's qemu-system-x86 and qemu-system-arm.`,
        ),
      ),
    );
  });
  child.stderr.on('data', (data) => lines.push(String(data)));
  const reading = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      const at = line.indexOf('PUNGI {');
      if (at >= 0) said.push(JSON.parse(line.slice(at + 6)) as GuestReport);
      else lines.push(line);
    }
  })();
  try {
    await Promise.race([reading, failed]);
  } finally {
    child.kill('SIGKILL');
    rmSync(image.initrd, { force: true });
  }
  return { said, console: lines.slice(-LAST_LINES).join('\n') };
}
