import { describe, expect, test } from 'vitest';
import { sharedPungi } from '../../core/tests/engine/pungi.js';
import { missingAmong, missingIn } from '../src/discover/discover-script.js';

describe('among the dependencies that a script names', () => {
  test('a module is there if it or its package is named, however that is spelled', () => {
    const named = ['Opencv_Python>=4 ; python_version > "3"', 'pandas[excel]==2', 'my.tool'];
    expect(missingAmong(named, ['cv2', 'pandas', 'my_tool', 'yaml', 'google'])).toEqual([
      { module: 'yaml', package: 'pyyaml' },
      { module: 'google', package: null },
    ]);
  });
});

describe('in an environment', () => {
  const pungi = sharedPungi();
  const probe = pungi.probe.bind(pungi);

  test('those modules are missing that Python does not find', async () => {
    expect(await missingIn(undefined, ['json', 'zebra_of_nobody', 'cv2_of_nobody'], probe)).toEqual([
      { module: 'zebra_of_nobody', package: null },
      { module: 'cv2_of_nobody', package: null },
    ]);
  });

  test('that does not exist, that is said', async () => {
    await expect(missingIn('nowhere', ['json'], probe)).rejects.toMatchObject({
      code: 'ENVIRONMENT_NOT_FOUND',
    });
  });
});
