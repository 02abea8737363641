import type { Config } from '../../config/schema.js';

/** Whether only the strategic tools are served. */
export const isAlone = ({ toolsets }: Config): boolean => toolsets.length > 0;

/** The name by which clients know the server. */
export const serverNameOf = (config: Config) =>
  isAlone(config)
    ? { name: 'strategic-python', title: 'Strategic Python' }
    : { name: 'pungi', title: 'Pungi' };
