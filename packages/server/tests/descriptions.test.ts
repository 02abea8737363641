import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { loadConfig } from '../../core/src/config/load.js';
import { loadProfiles } from '../../core/src/gate/profiles/load-profiles.js';
import { toolsFor } from '../src/tools/index.js';
import { TOOLS } from './calls.js';

type Settings = Record<string, string>;

function toolsWith(env: Settings) {
  const config = loadConfig({ env });
  return toolsFor(config, loadProfiles(config));
}

/** What an agent reads of a tool under these settings: its description and those of its arguments. */
function read(tool: string, env: Settings): string {
  const { description, inputSchema } = toolsWith(env).find(({ name }) => name === tool)!;
  return `${description}\n${JSON.stringify(inputSchema)}`;
}

const folder = temporaryFolder();
function profilesFile(name: string, profiles: unknown): Settings {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, JSON.stringify({ profiles }));
  return { PROFILES_FILE: file };
}

test('where packages may come from is said as it is configured', () => {
  expect(read('install_packages', {})).toContain('Wheels of the package index only');
  const open = read('install_packages', { PACKAGE_SOURCES: 'url,sdist' });
  expect(open).toContain('on this server also URLs of wheels');
  expect(open).toContain('source distributions, which are built in a sandbox');
  expect(open).not.toContain('absolute paths');
});

test('the default environment goes by its name, and installing has its own time', () => {
  expect(read('execute_python', { DEFAULT_VENV_NAME: 'lab' })).toContain('default \\"lab\\"');
  expect(read('install_packages', { PACKAGE_TIMEOUT_MS: '5000' })).toContain('within 5 s');
});

test('a server that installs what is missing says so', () => {
  expect(read('execute_python', {})).toContain('the error names the package to install');
  expect(read('execute_python', { AUTO_INSTALL: 'true' })).toContain('is installed and the code runs again');
});

test('the profiles that a caller may use are named, with a line each unless they are personas', () => {
  const file = profilesFile('sales', { sales: { description: 'Figures of sales', extends: 'default' } });
  const all = read('execute_python', file);
  expect(all).toContain('default \\"default\\"');
  expect(all).toContain('\\nsales: Figures of sales');
  expect(all).toContain('\\npersonas: diego, alvaro');
  const some = read('execute_python', { ...file, ALLOWED_PROFILES: 'sales', DEFAULT_PROFILE: 'sales' });
  expect(some).toContain('\\nsales: Figures of sales');
  expect(some).not.toContain('diego');
});

test('a server with very many profiles leaves the rest to list_profiles', () => {
  const many = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`p${index}`, { description: 'x' }]),
  );
  expect(read('execute_python', profilesFile('many', many))).toContain('and 41 more, see list_profiles');
});

test('personas are offered where they may be used, and only those', () => {
  const strategic = read('execute_strategic_code', { ALLOWED_PROFILES: 'default,rachel,martin' });
  expect(strategic).toContain('"enum":["martin","rachel"]');
  expect(strategic).toContain('rachel: Design Systems Strategy');
  expect(strategic).toContain('Code may import pandas, numpy, json');
  expect(strategic).toContain('Already imported: pandas, numpy, pandas as pd, numpy as np.');
  expect(strategic).not.toContain('diego');
  const names = toolsWith({ ALLOWED_PROFILES: 'default,strategic' }).map(({ name }) => name);
  expect(names).toContain('list_profiles');
  expect(names).not.toContain('execute_strategic_code');
});

test('a profile of the strategic line that does not say who it is, is no persona', () => {
  const file = profilesFile('rules', { rules: { extends: 'strategic', description: 'Rules' } });
  expect(read('execute_strategic_code', file)).not.toContain('rules');
  expect(read('execute_python', file)).toContain('\\nrules: Rules');
});

test('tools that change environments can be kept back, and nothing else speaks of them', () => {
  const kept = toolsWith({ ENVIRONMENT_TOOLS: 'false' }).map(({ name }) => name);
  const changing = TOOLS.filter((name) => /^(un)?install_|_venv(_|$)/.test(name));
  expect(changing).toHaveLength(5);
  expect(kept).toEqual(TOOLS.filter((name) => !changing.includes(name)));
  for (const tool of kept) {
    const words = read(tool, { ENVIRONMENT_TOOLS: 'false' });
    for (const name of changing) expect(words).not.toContain(name);
  }
});

test('hosts that a profile allows are not passed over', () => {
  expect(read('execute_python', {})).toContain('process: no network, no access');
  const open = profilesFile('open', { fetching: { network: { allow: ['example.org'] } } });
  expect(read('execute_python', open)).toContain('no network but the hosts that its profile allows');
  expect(read('execute_python', { ...open, ALLOWED_PROFILES: 'default' })).toContain(
    'process: no network, no access',
  );
});
