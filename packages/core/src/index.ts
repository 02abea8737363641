export type { BackendState } from './engine/backend.js';
export { distributionFor, distributionOf } from './engine/module-names.js';
export { checkSettings } from './pungi/check-settings.js';
export { type KeptOutput, OUTPUT_PARTS, type OutputPart } from './pungi/output-store.js';
export { type CompiledScript, type Door, Pungi } from './pungi.js';
