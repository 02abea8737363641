import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { OUTPUT_PARTS } from '@pungi/core';
import { outputUri } from './reply.js';
import { notKept } from './tools/read-output.js';
import type { Call } from './tools/tool.js';

/**
 * Serves outputs that were too long for their reply as resources, to their callers. They are not listed: a reply links to
 * them.
 */
export function serveOutputs(server: McpServer, callOf: (ctx: ServerContext) => Call): void {
  const template = new ResourceTemplate('pungi://output/{run}/{part}', {
    list: undefined,
    complete: { part: (begun) => OUTPUT_PARTS.filter((part) => part.startsWith(begun)) },
  });
  const about = {
    title: 'Output of a run',
    description: 'An output that was too long for its reply.',
    mimeType: 'text/plain',
  };
  server.registerResource('output', template, about, async (uri, { run, part: named }, ctx) => {
    const { pungi, caller } = callOf(ctx);
    const output = pungi.outputs.read(caller, String(run));
    const part = OUTPUT_PARTS.find((one) => one === named);
    if (output === undefined || part === undefined) {
      const { message } = notKept(String(run), pungi.config.outputStoreSeconds);
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message, { uri: uri.href });
    }
    return { contents: [{ uri: outputUri(String(run), part), mimeType: 'text/plain', text: output[part] }] };
  });
}
