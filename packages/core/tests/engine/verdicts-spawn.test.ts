import { publicInterpreter } from '../../../../tests/support/places.js';
import { testVerdicts } from './verdict-suite.js';

testVerdicts(
  { PUNGI_TIER: 'spawn', ALLOW_UNSANDBOXED: 'true', PUNGI_PYTHON: await publicInterpreter() },
  { hasForkServer: false },
);
