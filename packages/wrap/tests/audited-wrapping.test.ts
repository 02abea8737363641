import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256 } from '../../core/src/base/sha256.js';
import { startPungi, temporaryFolder } from '../../core/tests/engine/pungi.js';
import { openTrailForReading } from '../../pungi/src/index.js';
import { Wrapping } from '../src/wrapping.js';

const CODE = 'def hello() -> str:\n    return "hi"\n';

test('wrapping and unwrapping are in the audit trail, with who did it and what it was', async () => {
  const base = temporaryFolder();
  const auditDir = join(base, 'audit');
  const settings = { AUDIT: 'true', AUDIT_DIR: auditDir, TOOLS_DIR: join(base, 'tools'), WRAP_TOOLS: 'true' };
  for (const round of [1, 2]) {
    const pungi = startPungi(settings);
    const wrapping = new Wrapping(pungi);
    try {
      await wrapping.wrap({ filename: `a${round}.py`, code: CODE }, { caller: { client: 'pungi 1.0' } });
      await wrapping.unwrap(`a${round}`, { caller: { client: 'ann' } });
    } finally {
      await wrapping.close();
      await pungi.close();
    }
  }
  const trail = await openTrailForReading(auditDir);
  const entries = trail.list({ kind: 'configuration' }).reverse();
  trail.close();
  expect(entries.map(({ client, data }) => [client, 'change' in data && data.change])).toEqual([
    ['pungi', 'the first'],
    ['pungi 1.0', 'wrap a1'],
    ['ann', 'unwrap a1'],
    // What clients did is no change of the settings, though one of them is called like the server.
    ['pungi 1.0', 'wrap a2'],
    ['ann', 'unwrap a2'],
  ]);
  const hello = { sha256: sha256(CODE), tools: ['hello'] };
  expect(entries[1]?.data).toMatchObject({ before: null, after: { name: 'a1', ...hello } });
  expect(entries[2]?.data).toMatchObject({ before: { name: 'a1', ...hello }, after: null });
});

test('what cannot be recorded is not wrapped', async () => {
  const base = temporaryFolder();
  writeFileSync(join(base, 'audit'), 'not a folder');
  const tools = join(base, 'tools');
  mkdirSync(tools);
  const pungi = startPungi({ AUDIT: 'true', AUDIT_DIR: join(base, 'audit'), TOOLS_DIR: tools });
  const wrapping = new Wrapping(pungi);
  try {
    await expect(wrapping.wrap({ filename: 'a.py', code: CODE })).rejects.toMatchObject({
      code: 'AUDIT_UNAVAILABLE',
    });
    await wrapping.scripts.look();
    expect(wrapping.scripts.scripts).toEqual([]);
  } finally {
    await wrapping.close();
    await pungi.close();
  }
});

test.each([
  ['request', (wrapping: Wrapping) => wrapping.wrap('x' as never)],
  ['filename', (wrapping: Wrapping) => wrapping.wrap({} as never)],
  ['file', (wrapping: Wrapping) => wrapping.wrap({ file: 1 } as never)],
  ['name', (wrapping: Wrapping) => wrapping.unwrap({} as never)],
])('an argument of the wrong kind is INVALID_INPUT and is named: %s', async (argument, call) => {
  const pungi = startPungi({ TOOLS_DIR: temporaryFolder() });
  const wrapping = new Wrapping(pungi);
  try {
    await expect(call(wrapping)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(argument),
    });
  } finally {
    await wrapping.close();
    await pungi.close();
  }
});
