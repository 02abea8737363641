import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pungi } from '@pungi/core';
import { isSandboxed, type Outcome } from '@pungi/core/contract';
import { type Finding, fail, ok, warn } from './finding.js';

/** Tries to reach a file and a port that the doctor has placed outside the sandbox. */
const CODE = `
import socket

def works(attempt):
    try:
        attempt()
        return True
    except OSError:
        return False

print(6 * 7)
{
    "file": works(lambda: open(context["file"]).close()),
    "network": works(lambda: socket.create_connection(("127.0.0.1", context["port"]), 2).close()),
}
`;

/** Makes a real run: it must compute, and it must not reach out of its sandbox. */
export async function tryRun(pungi: Pungi): Promise<Finding[]> {
  const outcome = await withBait((bait) => pungi.probe({ code: CODE, context: { ...bait } }));
  const { verdict, stdout, usage } = outcome;
  if (verdict.kind !== 'ok') {
    return [
      fail('Test run', `ended ${verdict.kind}: ${verdict.message}`, 'See the rows above, or report this.'),
    ];
  }
  if (stdout.text.trim() !== '42')
    return [fail('Test run', `6 × 7 gave ${stdout.text.trim()}`, 'Report this.')];
  const took = `computed in ${usage.wallMs.toFixed(1)} ms with ${usage.peakMemoryMb.toFixed(0)} MB`;
  return [
    ok('Test run', took),
    reach(outcome, 'file', 'Files outside'),
    reach(outcome, 'network', 'Network'),
  ];
}

interface Bait {
  file: string;
  port: number;
}

async function withBait(use: (bait: Bait) => Promise<Outcome>): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-doctor-'));
  const file = join(folder, 'bait');
  writeFileSync(file, 'bait', { mode: 0o644 });
  // Readable by everybody: the sandbox must refuse it, not the file permissions.
  chmodSync(folder, 0o755);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use({ file, port: (server.address() as AddressInfo).port });
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function reach({ value, isolation }: Outcome, what: keyof Bait | 'network', name: string): Finding {
  const reached = (value?.json as Record<string, unknown> | undefined)?.[what];
  if (reached === false) return ok(name, 'not reachable from the run');
  if (isolation.tier !== null && !isSandboxed(isolation.tier))
    return warn(
      name,
      'reachable from the run',
      `The ${isolation.tier} tier does not isolate: run only code that you trust.`,
    );
  return fail(name, 'the run reached it', 'Do not run untrusted code here, and report this.');
}
