import { describe, test } from 'vitest';
import { findInterpreters } from '../../../../scripts/interpreters.mjs';
import { publicInterpreter, sharedPungi } from '../engine/pungi.js';
import { expectWorks, ROOM, WORKLOAD_MS, workloadsOf } from './workloads.js';

const landlockPython = await publicInterpreter();
const PLACES = [
  ...findInterpreters().map(({ path, version }) => ({ tier: 'namespace', version, path })),
  { tier: 'landlock', version: 'of the system', path: landlockPython },
];

/** No system call that the standard library needs is refused without another way. */
describe.each(PLACES)('$tier tier, Python $version', ({ tier, path }) => {
  const pungi = sharedPungi({
    ...ROOM,
    PUNGI_TIER: tier,
    POOL_SIZE: '1',
    ...(path === '' ? {} : { PUNGI_PYTHON: path }),
  });

  test.each(workloadsOf('standard'))('%s works', { timeout: WORKLOAD_MS }, (workload) =>
    expectWorks(pungi, workload),
  );
});
