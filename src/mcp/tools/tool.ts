import type {
  CallToolResult,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Caller } from '../../contract/caller.js';
import type { Pungi } from '../../pungi.js';

/** What a handler may use of the call that it answers. */
export interface Call {
  pungi: Pungi;
  caller: Caller;
  ctx: ServerContext;
}

/** A tool as data: what is advertised, and the function that answers. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  annotations: ToolAnnotations;
  inputSchema: StandardSchemaWithJSON;
  outputSchema: StandardSchemaWithJSON;
  /** Gets the arguments as the client sent them. */
  answer: (args: unknown, call: Call) => Promise<CallToolResult>;
}
