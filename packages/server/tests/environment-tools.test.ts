import { expect, test } from 'vitest';
import { behindTwoDoors } from './doors.js';

const CHANGING = /(un)?install_packages|(create|delete)_venv|set_venv_description/;

behindTwoDoors({ ENVIRONMENT_TOOLS: 'false' }, (door) => {
  test('nothing that a client reads names a tool that changes environments', async () => {
    const { client } = door();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('list_venvs');
    expect(JSON.stringify(tools)).not.toMatch(CHANGING);
    expect(client.getInstructions()).not.toMatch(CHANGING);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['execute-python', 'debug-python', 'strategic-analysis']);
    for (const [name, args] of [
      ['execute-python', { task: 'x', venvName: 'lab' }],
      ['debug-python', { code: 'x', venvName: 'lab' }],
    ] as const)
      expect(JSON.stringify(await client.getPrompt({ name, arguments: args }))).not.toMatch(CHANGING);
  });

  test('a call of such a tool is refused', async () => {
    const call = door().client.callTool({ name: 'create_venv', arguments: { venvName: 'lab' } });
    await expect(call).rejects.toThrow(/create_venv/);
  });
});
