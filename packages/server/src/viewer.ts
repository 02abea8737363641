import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientCapabilities, McpServer } from '@modelcontextprotocol/server';
import { PACKAGE_ROOT } from '@pungi/core/base';

const URI = 'ui://pungi/viewer.html';
const MEDIA_TYPE = 'text/html;profile=mcp-app';
const EXTENSION = 'io.modelcontextprotocol/ui';
const FILE = join(PACKAGE_ROOT, 'packages/server/viewer/viewer.html');

/** Tools whose results it shows. */
const SHOWN = /^execute_python/;

/** Hosts forbid pictures unless they are declared. */
const UI = { csp: { resourceDomains: ['data:'] } };

/** Serves the page that shows a run, for hosts that show MCP Apps. Nothing depends on it. */
export function serveViewer(server: McpServer): void {
  server.registerResource('viewer', URI, { title: 'Viewer of a run', mimeType: MEDIA_TYPE }, async () => ({
    contents: [{ uri: URI, mimeType: MEDIA_TYPE, text: await readFile(FILE, 'utf8'), _meta: { ui: UI } }],
  }));
}

/** Adds the viewer to the tools that it shows, for a client that shows Apps; to others the list stays short. */
export function withViewer<Tool extends { name: string; _meta?: Record<string, unknown> | undefined }>(
  tools: Tool[],
  client: ClientCapabilities | undefined,
): Tool[] {
  if (!showsApps(client)) return tools;
  return tools.map((tool) =>
    SHOWN.test(tool.name) ? { ...tool, _meta: { ...tool._meta, ui: { resourceUri: URI } } } : tool,
  );
}

function showsApps(client: ClientCapabilities | undefined): boolean {
  const { mimeTypes } = (client?.extensions?.[EXTENSION] ?? {}) as { mimeTypes?: unknown };
  return Array.isArray(mimeTypes) && mimeTypes.includes(MEDIA_TYPE);
}
