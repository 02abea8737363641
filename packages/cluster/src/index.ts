export type { ClusterAddress } from './connection.js';
export {
  CREDENTIAL_FILES,
  type Member,
  makeKeyPair,
  type Role,
  writeCredentials,
} from './credentials.js';
export { ClusterBackend, type ClusterBackendOptions } from './front/cluster-backend.js';
export { type PushedWheels, type PushWheels, pushWheels } from './front/push-wheels.js';
export { memberAs } from './member-as.js';
export type { ClusterStatus, SeenFront, SeenWorker } from './operator/cluster-status.js';
export { Operator } from './operator/operator.js';
export { type ClusterAudit, type FrontAudit, verifyAudit } from './operator/verify-audit.js';
export { ProfileOwner, type PushedProfiles } from './owner/profile-owner.js';
export { isToken, type Labels, MOST_LABELS } from './protocol/subjects.js';
export {
  type AddedRole,
  addHosts,
  addMember,
  type Cluster,
  initCluster,
  removeMember,
} from './setup/cluster-folder.js';
export { type StartWorker, startWorker } from './worker/start-worker.js';
