import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import type { Offer } from '../../harness/src/init/offer.js';
import { lint } from '../../harness/src/lint/lint.js';
import { type Settings, TWO_DOORS } from './doors.js';

const folder = temporaryFolder();
/** Listing takes no Python, so none is looked for. */
const QUIET = { PUNGI_PYTHON: join(folder, 'none') };

async function offerOf(client: Client): Promise<Offer> {
  const { name, version } = client.getServerVersion() ?? { name: '', version: '' };
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  const { resourceTemplates: templates } = await client.listResourceTemplates();
  return {
    server: { name, version, protocol: client.getNegotiatedProtocolVersion() ?? '' },
    instructions: client.getInstructions(),
    capabilities: { ...client.getServerCapabilities() },
    tools,
    prompts,
    resources: [],
    templates,
    problems: [],
  };
}

const [, inProcess] = TWO_DOORS;
async function offerWith(settings: Settings): Promise<Offer> {
  const { client, close } = await inProcess.connect(inProcess.era, { ...QUIET, ...settings });
  try {
    return await offerOf(client);
  } finally {
    await close();
  }
}

const EVERYTHING = {
  TOOLS_DIR: folder,
  WRAP_TOOLS: 'true',
  SCRIPT_ROOTS: folder,
  PACKAGE_SOURCES: 'url,path,sdist',
  AUTO_INSTALL: 'true',
  ALLOWED_ENV: 'LANG,TZ',
};

// Every client pays for all of this in each conversation, before anything is done.
test.each([
  ['by default', {}, 10_000],
  ['with everything switched on', EVERYTHING, 14_500],
  ['without tools that change environments', { ENVIRONMENT_TOOLS: 'false' }, 8950],
  ['without personas', { ALLOWED_PROFILES: 'default' }, 9400],
  ['runs alone', { TOOLSETS: 'run' }, 4000],
  ['some groups', { TOOLSETS: 'run,packages,health', ALLOWED_PROFILES: 'default' }, 5250],
])('%s: the lists are short, and our own linter has nothing to say', async (_, settings, mostCharacters) => {
  const offer = await offerWith(settings);
  expect(lint(offer)).toEqual([]);
  expect(JSON.stringify(offer.tools).length).toBeLessThan(mostCharacters);
  expect(JSON.stringify(offer.prompts).length).toBeLessThan(2500);
  const { instructions = '', tools } = offer;
  const named = instructions.match(/\b[a-z]+(_[a-z]+)+\b/g) ?? [];
  expect(named).toContain('execute_python');
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
  expect(instructions.length).toBeLessThan(900);
});
