export { AuditTrail } from './audit-trail.js';
export { auditFolder } from './folder.js';
export type { ConfigurationChange } from './recorder.js';
export { openTrailForReading, type TrailReader } from './trail-reader.js';
