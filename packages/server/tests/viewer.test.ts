import type { ClientOptions } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { DOORS } from './doors.js';

const VIEWER = 'ui://pungi/viewer.html';
const MEDIA_TYPE = 'text/html;profile=mcp-app';
const SHOWS_APPS: ClientOptions = {
  capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [MEDIA_TYPE] } } },
};
const SHOWS_OTHERS: ClientOptions = {
  capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/x-other'] } } },
};

describe.each(DOORS)('$era client over $transport', ({ era, connect }) => {
  test('that shows Apps finds the viewer at the tool that runs code, and can read it', async () => {
    const { client, close } = await connect(era, {}, { options: SHOWS_APPS });
    const { tools } = await client.listTools();
    const shown = tools.filter(({ _meta }) => _meta?.['ui'] !== undefined);
    expect(shown.map(({ name, _meta }) => [name, _meta?.['ui']])).toEqual([
      ['execute_python', { resourceUri: VIEWER }],
    ]);
    expect(shown[0]!._meta).toHaveProperty('anthropic/maxResultSizeChars');
    const { contents } = await client.readResource({ uri: VIEWER });
    expect(contents).toMatchObject([
      { mimeType: MEDIA_TYPE, text: expect.stringMatching(/^<!doctype html>/), _meta: { ui: { csp: {} } } },
    ]);
    await close();
  });

  test('that shows none gets a list without it', async () => {
    for (const options of [{}, SHOWS_OTHERS]) {
      const { client, close } = await connect(era, {}, { options });
      expect(JSON.stringify(await client.listTools())).not.toContain('ui://');
      await close();
    }
  });
});
