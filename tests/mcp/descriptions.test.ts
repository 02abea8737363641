import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { toolsFor } from '../../src/mcp/tools/index.js';

/** What an agent reads of a tool under these settings: its description and those of its arguments. */
function read(tool: string, env: Record<string, string>): string {
  const { description, inputSchema } = toolsFor(loadConfig({ env })).find(({ name }) => name === tool)!;
  const schema = inputSchema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  return `${description}\n${JSON.stringify(schema)}`;
}

test('where packages may come from is said as it is configured', () => {
  expect(read('install_packages', {})).toContain('Wheels of the package index only: no options, URLs, paths');
  const open = read('create_venv', { PACKAGE_SOURCES: 'url,sdist' });
  expect(open).toContain('on this server also URLs of wheels');
  expect(open).toContain('source distributions, which are built in a sandbox');
  expect(open).not.toContain('absolute paths');
});

test('the default environment goes by its name, and installing has its own time', () => {
  expect(read('execute_python', { DEFAULT_VENV_NAME: 'lab' })).toContain('the default one, \\"lab\\"');
  expect(read('install_packages', { PACKAGE_TIMEOUT_MS: '5000' })).toContain('a time limit of its own, 5 s');
});

test('a server that installs what is missing says so', () => {
  expect(read('execute_python', {})).toContain('the error names the package to install');
  expect(read('execute_python', { AUTO_INSTALL: 'true' })).toContain(
    'is installed, and the code run once more',
  );
});
