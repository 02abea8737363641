import { testVerdicts } from './verdict-suite.js';

testVerdicts({}, { hasForkServer: true });
