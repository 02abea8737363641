// The SDK with an empty server: what any MCP server over stdio costs before it does anything.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => new McpServer({ name: 'empty', version: '1.0.0' }));
process.stdin.once('end', () => process.exit(0));
