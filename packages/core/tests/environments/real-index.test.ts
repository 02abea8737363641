import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { printed, sharedPungi, temporaryFolder, verdictOf } from '../engine/pungi.js';

const PACKAGES = ['numpy', 'pandas', 'matplotlib', 'scikit-learn'];
/** The largest of them are over a hundred megabytes. */
const DOWNLOAD_MS = 300_000;

/** Needs the network, so it runs only where it is asked for. */
describe.runIf(process.env['PUNGI_TEST_REAL_INDEX'] === '1')('with the real index', () => {
  const base = temporaryFolder();
  chmodSync(base, 0o755);
  const pungi = sharedPungi({ VENVS_BASE_PATH: base });
  const inScience = (code: string) => printed(pungi, { code, venvName: 'science' });

  test('an environment with the four packages of the field is made', { timeout: DOWNLOAD_MS }, async () => {
    const { environment, report } = await pungi.environments.create({
      venvName: 'science',
      packages: PACKAGES,
    });
    expect(environment).toMatchObject({ venvName: 'science', state: 'ready', requested: PACKAGES });
    expect(report?.packages.map(({ package: name, status }) => [name, status])).toEqual(
      PACKAGES.map((name) => [name, 'installed']),
    );
    const names = (await pungi.packages('science')).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...PACKAGES, 'scipy', 'python-dateutil']));
  });

  test('numpy solves equations', async () => {
    const code = py`
      import numpy
      print(numpy.linalg.solve(numpy.array([[3.0, 1.0], [1.0, 2.0]]), [9.0, 8.0]).round(6).tolist())
    `;
    expect(await inScience(code)).toBe('[2.0, 3.0]\n');
  });

  test('pandas groups', async () => {
    const code = py`
      import pandas
      frame = pandas.DataFrame({'kind': ['a', 'b', 'a'], 'n': [1, 2, 3]})
      print(frame.groupby('kind')['n'].sum().to_dict())
    `;
    expect(await inScience(code)).toBe("{'a': 4, 'b': 2}\n");
  });

  test('matplotlib draws a picture into the work folder', async () => {
    const code = py`
      import struct
      import matplotlib.pyplot as plt
      plt.figure(figsize=(4, 3), dpi=50)
      plt.plot([1, 2, 3], [1, 4, 9])
      plt.savefig('squares.png')
      with open('squares.png', 'rb') as file:
          print(struct.unpack('>II', file.read(24)[16:]))
    `;
    expect(await inScience(code)).toBe('(200, 150)\n');
  });

  test('scikit-learn fits a line', async () => {
    const code = py`
      from sklearn.linear_model import LinearRegression
      model = LinearRegression().fit([[0], [1], [2]], [1, 3, 5])
      print(round(float(model.coef_[0]), 6), round(float(model.intercept_), 6))
    `;
    expect(await inScience(code)).toBe('2.0 1.0\n');
  });

  test('a second environment shares its files with the first', { timeout: DOWNLOAD_MS }, async () => {
    const { environment } = await pungi.environments.create({ venvName: 'more-science', packages: PACKAGES });
    expect(environment.sizeMb).toBeGreaterThan(100);
    expect(environment.sharedMb).toBeGreaterThan(environment.sizeMb * 0.9);
    expect(await printed(pungi, { code: 'import sklearn; print(1)', venvName: 'more-science' })).toBe('1\n');
  });

  test('an import that finds nothing names the package to install, which differs from the module', async () => {
    await pungi.environments.create({ venvName: 'empty' });
    const outcome = await pungi.run({ code: 'import sklearn', venvName: 'empty' });
    const { exception } = verdictOf(outcome, 'python-error');
    expect(exception).toMatchObject({ missingModule: 'sklearn', missingPackage: 'scikit-learn' });
  });
});
