import type { AuditRecord } from '../contract/audit.js';

/** Without the code and what else a run was given; its hash stays. */
export function redact(record: AuditRecord): AuditRecord {
  if (record.kind === 'run') return { ...record, data: { ...record.data, code: null, inputs: null } };
  if (record.kind === 'denial') return { ...record, data: { ...record.data, code: null } };
  return record;
}
