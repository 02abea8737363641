import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Pungi } from '../../src/pungi.js';
import { expectOk, printed, startPungi, temporaryFolder } from '../engine/pungi.js';

const DOWNLOAD_MS = 300_000;
const PACKAGES = '# /// script\n# dependencies = ["numpy", "pandas", "pyarrow", "openpyxl"]\n# ///\n';
const MAKE = (save: string) => `${PACKAGES}
import base64, io, pandas
target = io.BytesIO()
pandas.DataFrame({"region": ["north", "south", "north"], "amount": [10, 20, 5]}).${save}
print(base64.b64encode(target.getvalue()).decode(), end="")`;

/** Needs the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')(
  'data of a workspace, with the real pandas',
  () => {
    const folder = temporaryFolder();
    const sales = join(folder, 'sales');
    let pungi: Pungi;

    beforeAll(async () => {
      chmodSync(folder, 0o755);
      mkdirSync(sales);
      const profiles = join(folder, 'profiles.yaml');
      writeFileSync(
        profiles,
        'profiles: {strategic: {extends: strategic, workspace: [{name: sales, path: sales}]}}\n',
      );
      pungi = startPungi({ VENVS_BASE_PATH: join(folder, 'environments'), PROFILES_FILE: profiles });
      for (const [name, save] of [
        ['a.csv', 'to_csv(target, index=False)'],
        ['b.parquet', 'to_parquet(target)'],
        ['c.xlsx', 'to_excel(target, index=False)'],
      ] as const) {
        const content = await printed(pungi, { code: MAKE(save) });
        writeFileSync(join(sales, name), Buffer.from(content, 'base64'), { mode: 0o644 });
      }
    }, DOWNLOAD_MS);
    afterAll(() => pungi.close());

    test.each([
      ['CSV', 'pandas.read_csv("data/sales/a.csv")'],
      ['Parquet', 'pandas.read_parquet("data/sales/b.parquet")'],
      ['Excel', 'pandas.read_excel("data/sales/c.xlsx")'],
    ])('%s is read by a persona', async (_, read) => {
      const code = `${read}.groupby("region").amount.sum().to_dict()`;
      const outcome = await pungi.run({ code, profile: 'alvaro' });
      expectOk(outcome);
      expect(outcome.value?.json).toEqual({ north: 15, south: 20 });
      expect(outcome.disclosure?.codeSummary).toMatchObject({ imports: ['pandas'], dataFrames: true });
    });

    test('is listed with its kinds', async () => {
      const { value } = await pungi.run({
        code: '[(one["path"], one["kind"]) for one in available_data]',
        profile: 'rachel',
      });
      expect(value?.json).toEqual([
        ['data/sales/a.csv', 'csv'],
        ['data/sales/b.parquet', 'parquet'],
        ['data/sales/c.xlsx', 'excel'],
      ]);
    });

    test('is not opened by the code itself, nor written', async () => {
      const own = await pungi.run({ code: 'open("data/sales/a.csv").read()', profile: 'alvaro' });
      expect(own.verdict).toMatchObject({ kind: 'denied', violations: [{ rule: 'builtin', what: 'open' }] });
      const written = await pungi.run({
        code: 'pandas.DataFrame({"a": [1]}).to_csv("data/sales/new.csv")',
        profile: 'alvaro',
      });
      expect(written.verdict).toMatchObject({ kind: 'python-error', exception: { type: 'OSError' } });
    });
  },
);
