import type {
  CallToolResult,
  ServerContext,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Pungi } from '../../pungi.js';

/** Who asks: the record names the client; the queue is fair between sessions, where there are any, and clients. */
export interface Who {
  client: string;
  session?: string;
}

/** What a handler may use of the call that it answers. */
export interface Call {
  pungi: Pungi;
  who: Who;
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
