import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { healthOf, TOOLS } from './calls.js';
import { TWO_DOORS } from './doors.js';

/** An interpreter that does not answer while a file is there, so that the engine cannot get further than its start. */
const folder = mkdtempSync(join(tmpdir(), 'pungi-warming-'));
const python = join(folder, 'python3');
const hold = join(folder, 'hold');
writeFileSync(python, `#!/bin/sh\nwhile [ -e '${hold}' ]; do sleep 0.05; done\nexit 1\n`);
chmodSync(python, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(TWO_DOORS)('$era client over $transport', ({ era, connect }) => {
  test('a client is answered while the engine still starts', async () => {
    writeFileSync(hold, '');
    const connection = await connect(era, { PUNGI_PYTHON: python });
    try {
      expect((await connection.client.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS);
      expect(await healthOf(connection.client)).toMatchObject({ status: 'starting', interpreter: null });
    } finally {
      rmSync(hold);
      await connection.close();
    }
  });
});
