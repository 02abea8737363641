export { artifactFolder, type KeptRun, keptRuns, readKept } from './artifacts.js';
export { type FoundRun, MOST_WAIT_MS } from './background.js';
export type { CheckpointState } from './checkpoints.js';
export type { BackendState } from './engine/backend.js';
export { distributionFor, distributionOf } from './engine/module-names.js';
export { checkSettings } from './pungi/check-settings.js';
export { type KeptOutput, OUTPUT_PARTS, type OutputPart } from './pungi/output-store.js';
export { type CompiledScript, type Door, Pungi } from './pungi.js';
