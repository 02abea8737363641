import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { Extension } from '../../packages/server/src/server.js';
import { collectTools } from './fixtures/collect-tools.js';
import { registerContentTools } from './fixtures/content-tools.js';
import { registerInputRequired, requestState } from './fixtures/input-required.js';
import { registerNotifyingTools } from './fixtures/notifying-tools.js';
import { registerPrompts } from './fixtures/prompts.js';
import { registerResources } from './fixtures/resources.js';
import { fixtureTasks, TASK_TOOLS } from './fixtures/task-tools.js';

/** The tools, resources and prompts that the conformance suite calls by their fixed names. */
export const conformanceFixtures = (changes: ServerEventBus): Extension => ({
  options: {
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    },
    requestState: { verify: requestState.verify },
  },
  register(server) {
    const { tools, registerTool } = collectTools(server);
    registerContentTools(registerTool);
    registerNotifyingTools(registerTool, changes);
    registerInputRequired(server, registerTool);
    registerResources(server);
    registerPrompts(server);
    server.server.setRequestHandler('completion/complete', () => ({
      completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
    }));
    return [...tools, ...TASK_TOOLS];
  },
  tasks: fixtureTasks,
});
