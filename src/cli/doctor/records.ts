import { existsSync } from 'node:fs';
import { auditFolder } from '../../audit/settings.js';
import { openTrailForReading } from '../../audit/trail-reader.js';
import { PungiError } from '../../base/errors.js';
import { countText } from '../../base/terminal.js';
import type { Config } from '../../config/schema.js';
import type { Profiles } from '../../gate/profiles/profiles.js';
import { type Finding, fail, ok, warn } from './finding.js';
import { isWritable } from './folder.js';

export function profileFinding({ all, usable }: Profiles, { defaultProfile }: Config): Finding {
  const files = [...new Set(all.map(({ origin }) => origin))].filter((origin) => origin !== 'built-in');
  const from = files.length === 0 ? 'built in' : `built in and of ${files.join(', ')}`;
  const found = `${countText(all.length, 'profile')} ${from}, ${usable.length} for callers; runs that name none get "${defaultProfile}"`;
  return ok('Profiles', found);
}

/** Nothing is run where it cannot be recorded, so a trail that cannot be written is a failure. */
export async function auditFinding(config: Config): Promise<Finding> {
  const name = 'Audit trail';
  if (!config.audit) return warn(name, 'off', 'Nothing that is run is recorded; AUDIT=true turns it on.');
  const folder = auditFolder(config);
  const todo = 'Make it writable, choose another with AUDIT_DIR, or record nothing with AUDIT=false.';
  if (!isWritable(folder)) return fail(name, `${folder} cannot be written`, todo);
  if (!existsSync(folder)) return ok(name, `will be made in ${folder}`);
  try {
    const trail = await openTrailForReading(folder);
    const [newest] = trail.list({ limit: 1 });
    trail.close();
    return ok(
      name,
      `${countText(newest?.seq ?? 0, 'entry', 'entries')} in ${folder}; "pungi audit verify" checks them`,
    );
  } catch (thrown) {
    return fail(name, PungiError.from(thrown).message, todo);
  }
}
