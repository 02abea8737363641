export { CONFIG_FILE, type ConfigSources, loadConfig, toolsFolder } from './load.js';
export { Config, OPTIONS, type OptionName } from './schema.js';
export { type Position, parseYaml } from './yaml-file.js';
