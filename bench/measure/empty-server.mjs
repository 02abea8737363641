// An empty server of the SDK: the cost of any MCP server over stdio.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

serveStdio(() => new McpServer({ name: 'empty', version: '1.0.0' }));
process.stdin.once('end', () => process.exit(0));
