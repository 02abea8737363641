export type { CleanRequest } from './cleaning.js';
export type { CreateRequest, DeleteRequest, Environments, InstallOptions } from './environments.js';
export { nameKey, parseRequirements } from './requirements/requirement.js';
export { checkName, defaultBase, Layout } from './store/layout.js';
export { Store } from './store/store.js';
