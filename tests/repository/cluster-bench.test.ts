import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { natsServer } from '../support/nats-server.js';
import { type PackageIndex, startPackageIndex } from '../support/package-index.js';
import { lastingFolder } from '../support/places.js';
import { ensureUv } from '../support/uv.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** Those of bench/cluster/routing.mjs. */
const PACKAGES = ['six', 'idna', 'toml', 'colorama'];

const folder = lastingFolder();
let index: PackageIndex;
beforeAll(async () => {
  index = await startPackageIndex(
    PACKAGES.map((name) => ({ name, version: '1.0', files: { [`${name}.py`]: '' } })),
  );
});
afterAll(async () => {
  await index.stop();
  rmSync(folder, { recursive: true, force: true });
});

const canPin = process.platform === 'linux' && availableParallelism() > 1;

test.each([
  ['overhead', 'what the cluster adds to the median of a local run'],
  ...(canPin ? [['throughput', 'two workers with a core each, to one worker with one core']] : []),
  ['routing', 'runs that went to a worker which had their environment'],
  ['simulation', '200 simulated workers: runs a second'],
])(
  'the bench of a cluster measures %s',
  async (part, target) => {
    const path = `${dirname(await natsServer())}${delimiter}${process.env['PATH']}`;
    const env = { ...process.env, ...index.env, PATH: path, PUNGI_UV: await ensureUv() };
    const bench = spawn(process.execPath, ['bench/cluster.mjs', '--quick', part!], {
      cwd: ROOT,
      env: { ...env, XDG_CACHE_HOME: join(folder, 'cache') },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [printed, errors, status] = await Promise.all([
      text(bench.stdout),
      text(bench.stderr),
      new Promise((ended) => bench.once('close', ended)),
    ]);
    expect(status, `${printed}${errors}`).toBe(0);
    const row = printed.split('\n').find((line) => line.includes(target!));
    expect(row).toMatch(/\| +\d[\d.]*(×|\/s| ms| %) \| +(pass|miss) \|$/);
  },
  180_000,
);
