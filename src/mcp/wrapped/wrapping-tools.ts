import type { Config } from '../../config/schema.js';
import { toolsFolder } from '../../config/tools-folder.js';
import type { Tool } from '../tools/tool.js';
import { listWrapped } from './list-wrapped.js';
import { unwrapScript } from './unwrap-script.js';
import { wrapScript } from './wrap-script.js';

/** Tools that change what the server offers are only there where its owner leaves that to clients. */
export function wrappingTools(config: Config): Tool[] {
  if (toolsFolder(config) === null) return [];
  return [listWrapped(), ...(config.wrapTools ? [wrapScript(config), unwrapScript()] : [])];
}
