export { AuditTrail } from './audit-trail.js';
export { auditFolder } from './folder.js';
export { PageCheck } from './page-check.js';
export type { ConfigurationChange } from './recorder.js';
export type { TrailPage, TrailPiece, TrailPosition } from './trail-pages.js';
export { openTrailForReading, type TrailReader } from './trail-reader.js';
