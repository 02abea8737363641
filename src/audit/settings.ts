import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Config } from '../config/schema.js';
import type { AuditSettings } from '../contract/audit.js';

/** $XDG_STATE_HOME/pungi/audit, or the same below ~/.local/state. */
export function defaultAuditFolder(env: NodeJS.ProcessEnv = process.env): string {
  return join(env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state'), 'pungi', 'audit');
}

export const auditFolder = ({ auditDir }: Pick<Config, 'auditDir'>): string =>
  resolve(auditDir ?? defaultAuditFolder());

/** null where nothing is to be recorded. */
export function auditSettings(config: Config): AuditSettings | null {
  if (!config.audit) return null;
  return {
    folder: auditFolder(config),
    sync: config.auditSync,
    storeCode: config.auditStoreCode,
    retentionDays: config.auditRetentionDays ?? null,
    maxBytes: config.auditMaxMb * 1024 * 1024,
    whenFull: config.auditWhenFull,
  };
}
