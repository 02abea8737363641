import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findInterpreter } from '../../../core/src/sandbox/interpreter.js';
import { fixture, messagesOf, run } from './suites.js';

const python = async () => (await findInterpreter()).path;

const LOOKS = `
import { existsSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { serve, textResult } from '${fixture('bare.mjs')}';

const attempt = (work) => { try { work(); return true; } catch { return false; } };
serve({
  call: ({ params }, answer) => {
    const { secret, port } = params.arguments;
    const seen = existsSync(secret);
    const wrote = attempt(() => writeFileSync(process.cwd() + '/left', 'x'));
    const own = attempt(() => writeFileSync('/tmp/own', 'x'));
    const told = (network) =>
      answer(textResult(JSON.stringify({ seen, wrote, own, network, uid: process.getuid(), cwd: process.cwd() })));
    createConnection({ host: '127.0.0.1', port }).on('connect', () => told(true)).on('error', () => told(false));
  },
});
`;

test.skipIf(process.platform !== 'linux')(
  'sandbox: true hides the files of the host and the network, and the server still serves',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pungi-boxed-'));
    const elsewhere = mkdtempSync(join(tmpdir(), 'pungi-secret-'));
    // As root, the sandbox has a user of its own.
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'server.mjs'), LOOKS);
    const secret = join(elsewhere, 'key');
    writeFileSync(secret, 'secret');
    // What is imported from elsewhere is shown by being named.
    const { report, named } = await run(
      {
        server: {
          command: process.execPath,
          args: [join(folder, 'server.mjs'), fixture('bare.mjs')],
          working_dir: folder,
          sandbox: true,
        },
        tools: [{ name: 'work', tests: [{ name: 'works', input: { secret, port: 1 } }] }],
      },
      { python },
    );
    expect(report.problem).toBeUndefined();
    expect(messagesOf(named('works'))).toEqual([]);
    const { content } = named('works').response as { content: [{ text: string }] };
    expect(JSON.parse(content[0].text)).toMatchObject({
      seen: false,
      wrote: false,
      own: true,
      network: false,
      cwd: folder,
    });
    expect(existsSync(join(folder, 'left'))).toBe(false);
  },
);

test.skipIf(process.getuid?.() !== 0)(
  'a folder that the user of the sandbox cannot read is told',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pungi-boxed-'));
    const { report } = await run(
      {
        server: {
          command: process.execPath,
          args: [fixture('bare.mjs')],
          working_dir: folder,
          sandbox: true,
        },
        tools: [{ name: 'work', tests: [{ name: 'works' }] }],
      },
      { python },
    );
    expect(report.problem).toMatch(
      /in the sandbox: Permission denied; started by root, .* every user can read\./,
    );
  },
);

test.skipIf(process.platform !== 'linux')(
  'what cannot be put into the sandbox is refused, not run',
  async () => {
    const { report } = await run(
      {
        server: { command: process.execPath, args: [fixture('bare.mjs')], working_dir: '/', sandbox: true },
        tools: [{ name: 'work', tests: [{ name: 'works' }] }],
      },
      { python },
    );
    expect(report.problem).toMatch(/^Could not start the server in the sandbox: .*visible/);
  },
);
