export { CONFIG_FILE, type ConfigSources, loadConfig, toolsFolder } from './load.js';
export {
  Config,
  isServed,
  OPTIONS,
  type OptionName,
  REPLY_DETAILS,
  TOOLSETS,
  type Toolset,
} from './schema.js';
export { type Position, parseYaml } from './yaml-file.js';
