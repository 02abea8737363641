import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The audit trail of whoever runs the tests is not the tests' own: all of them, and what they start, write to another. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-tests-state-'));
  process.env['XDG_STATE_HOME'] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
