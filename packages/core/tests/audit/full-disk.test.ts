import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAIN } from '../../../../tests/support/main.js';
import { ownFolders } from '../../../../tests/support/own-folders.js';
import { temporaryFolder } from '../../../../tests/support/places.js';

/** A disk of 2 MB that nobody else sees. */
const OWN_MOUNTS =
  process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-current-user', '--keep-caps', '--mount'];
const STEPS = `
  mount -t tmpfs -o size=2m tmpfs "$DISK"
  pungi() { "$NODE" "$MAIN" "$@" 2>&1; echo "exit $?"; }
  pungi run "$SCRIPT"
  head -c 4m /dev/zero > "$DISK/other" 2>/dev/null
  pungi run "$SCRIPT"
  rm "$DISK/other"
  pungi run "$SCRIPT"
  pungi audit verify
`;

test('on a full disk runs are refused and nothing is damaged; with room again they go on', () => {
  const disk = temporaryFolder();
  const script = join(temporaryFolder(), 'one.py');
  writeFileSync(script, 'print("ran")\n');
  const env = { ...process.env, ...ownFolders(), DISK: disk, SCRIPT: script, NODE: process.execPath, MAIN };
  const shown = execFileSync('unshare', [...OWN_MOUNTS, 'bash', '-c', STEPS], {
    env: { ...env, AUDIT_DIR: join(disk, 'trail'), CGROUPS: 'off' },
    encoding: 'utf8',
  });
  const [first, full, again, verified] = shown.split(/^exit (\d+)$/m).filter((_, index) => index % 2 === 0);
  expect(first).toBe('ran\n');
  expect(full).toMatch(/No space is left for the audit trail in .*trail\. Runs are refused/);
  expect(full).not.toContain('ran');
  expect(again).toContain('ran');
  expect(verified).toMatch(/ok {2}\d+ entries/);
  expect(shown.match(/^exit \d+$/gm)).toEqual(['exit 0', 'exit 69', 'exit 0', 'exit 0']);
});
