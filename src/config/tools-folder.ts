import { join, resolve } from 'node:path';
import { dataFolder } from '../base/data-folder.js';
import type { Config } from './schema.js';

/** The folder whose scripts the server offers as tools; null: there is to be none. */
export function toolsFolder({ toolsDir }: Pick<Config, 'toolsDir'>): string | null {
  if (toolsDir === 'off') return null;
  return resolve(toolsDir ?? join(dataFolder(), 'tools'));
}
