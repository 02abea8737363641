import { chmodSync } from 'node:fs';
import { beforeAll, describe, test } from 'vitest';
import { publicInterpreter, sharedPungi, temporaryFolder } from '../engine/pungi.js';
import { expectWorks, ROOM, WORKLOAD_MS } from './workloads.js';

const PACKAGES = {
  tables: ['numpy', 'pandas', 'pyarrow', 'polars', 'duckdb', 'openpyxl', 'h5py'],
  learning: ['scikit-learn', 'numba', 'matplotlib', 'opencv-python-headless', 'lxml', 'pillow', 'filelock'],
};
const DOWNLOAD_MS = 600_000;
const python = await publicInterpreter();

/** torch is some gigabytes: PUNGI_TEST_TORCH=1 tries it as well. */
const WORKLOADS = [
  ['packages/tables.py', PACKAGES.tables],
  ['packages/learning.py', PACKAGES.learning],
  ...(process.env['PUNGI_TEST_TORCH'] === '1' ? [['packages/torches.py', ['torch', 'numpy']] as const] : []),
] as const;

/** Needs the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')('packages of the real index', () => {
  const base = temporaryFolder();
  chmodSync(base, 0o755);

  describe.each(['namespace', 'landlock'])('in the %s tier', (tier) => {
    const pungi = sharedPungi({
      ...ROOM,
      PUNGI_TIER: tier,
      VENVS_BASE_PATH: base,
      ...(python === '' ? {} : { PUNGI_PYTHON: python }),
    });

    describe.each(WORKLOADS)('%s', (workload, packages) => {
      const name = workload.replace(/^.*\/|\.py$/g, '');
      const venvName = `${name}-${tier}`;
      beforeAll(async () => {
        await pungi.environments.create({ venvName, packages: [...packages] });
      }, DOWNLOAD_MS);

      test('works', { timeout: WORKLOAD_MS }, () => expectWorks(pungi, workload, { venvName }));
    });
  });
});
