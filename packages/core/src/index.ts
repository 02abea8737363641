export type { BackendState } from './engine/backend.js';
export { distributionFor, distributionOf } from './engine/module-names.js';
export { checkSettings } from './pungi/check-settings.js';
export { type CompiledScript, type Door, Pungi } from './pungi.js';
