import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('`npm start` serves, and ends when npm is stopped', async () => {
  const cwd = fileURLToPath(new URL('../../', import.meta.url));
  const npm = spawn('npm', ['start', '--', '127.0.0.1:0'], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let shown = '';
  // The server holds the pipe, too: it ends when both are gone.
  for await (const chunk of npm.stderr.setEncoding('utf8')) {
    shown += chunk;
    if (shown.includes('Ctrl-C')) npm.kill('SIGTERM');
  }
  expect(shown).toMatch(/http:\/\/127\.0\.0\.1:\d+\/mcp/);
});
