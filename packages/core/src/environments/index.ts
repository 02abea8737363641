export { bareDefault, describeBare, describeWhole } from './catalog.js';
export { type CleanRequest, checkCleanRequest, reasonToClean } from './cleaning.js';
export { notFound } from './editor.js';
export {
  type CreateRequest,
  confirmedName,
  type DeleteRequest,
  type Environments,
  type EnvironmentsOptions,
  type InstallOptions,
  type LocalEnvironments,
} from './environments.js';
export type { InlineDependencies } from './inline.js';
export { minorOf, parseLockFile, renderLockFile } from './lock-file.js';
export { ensureNatsServer } from './packaging/nats-server.js';
export type { LockedOptions } from './packaging/packager.js';
export { alreadyThere, differsInCase, tooMany } from './quota.js';
export { type OnEnvironmentEvent, recordEvent } from './recorder.js';
export { nameKey, parseRequirements } from './requirements/requirement.js';
export type { CloneRequest, ImportRequest } from './sharing.js';
export { checkName, defaultBase, foldName, Layout } from './store/layout.js';
export { BEING_CHANGED, HAS_RUNS, inUse, SHORT_WAIT_MS } from './store/locks.js';
export { creationTime, Metadata } from './store/metadata.js';
export { Store } from './store/store.js';
