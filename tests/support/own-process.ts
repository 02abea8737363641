import { afterAll } from 'vitest';

/**
 * Test files share their process and the modules that they import, so what a file changed of the process is undone after it:
 * its environment and its folder.
 */
const env = { ...process.env };
const folder = process.cwd();

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(folder);
});
