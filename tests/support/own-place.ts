import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What the tests, and all that they start, leave behind is gone with them: temporary files, and the audit trail, which is
 * not that of whoever runs the tests.
 */
export default function setup(): () => void {
  // Short, since the path of a unix socket has to fit below it.
  const folder = mkdtempSync(join(tmpdir(), 'tests-'));
  const state = join(folder, 'state');
  mkdirSync(state);
  // As every folder for temporary files: the sandbox's own user has to pass through it.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  process.env['XDG_STATE_HOME'] = state;
  return () => rmSync(folder, { recursive: true, force: true });
}
