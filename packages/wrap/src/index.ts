export { withFiles } from './call/path-arguments.js';
export { wrappedCall } from './call/wrapped-call.js';
export type { MissingImport } from './discover/discover-script.js';
export { availabilityOf, type Looked, lookAt } from './discover/surrounding.js';
export { fitSchema } from './schema/fit-schema.js';
export { type Parameter, parametersOf } from './schema/parameters.js';
export { typeWords } from './schema/type-words.js';
export { folderFiles, ownNames, REQUIREMENTS_FILE } from './standalone/folder.js';
export { mcpServers, pythonCommand } from './standalone/readme.js';
export { placeFor, writeFolder } from './standalone/write-folder.js';
export { makeToolsFile, originOf, TOOLS_FILE } from './tools-file/make-tools-file.js';
export { readToolsFile } from './tools-file/read-tools-file.js';
export { checkChoice, type WrapPlace, type Wrapped, wrapScript } from './tools-file/wrap-script.js';
export {
  checkToolsName,
  listSources,
  readRegistered,
  register,
  toolsNameOf,
  unregister,
} from './tools-folder/registrations.js';
export type { ScriptInUse, ScriptSource, WrappedScript, WrappedTool } from './tools-folder/wrapped-script.js';
export type { WrappedScripts } from './tools-folder/wrapped-scripts.js';
export { Wrapping } from './wrapping.js';
