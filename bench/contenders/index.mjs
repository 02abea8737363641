// All contenders, in the order of the table.
import { bare } from './bare.mjs';
import { bubblewrap } from './bubblewrap.mjs';
import { jupyter } from './jupyter.mjs';
import { library } from './library.mjs';
import { mcpLegacy, mcpModern } from './mcp.mjs';
import { pyodideFresh, pyodideReused } from './pyodide.mjs';

export const CONTENDERS = [
  bare,
  library,
  mcpModern,
  mcpLegacy,
  bubblewrap,
  pyodideFresh,
  pyodideReused,
  jupyter,
];

/** Contenders that can run concurrently. */
export const SUSTAINED = [bare, library, mcpModern, mcpLegacy, bubblewrap];

/** Contenders of the chart over concurrency. One Pyodide interpreter for all is left out: it does not separate runs. */
export const CONCURRENT = [...SUSTAINED, pyodideFresh, jupyter];
