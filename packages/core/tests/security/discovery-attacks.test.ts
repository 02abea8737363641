import { DISCOVERY_ATTACKS } from './discovery-attacks.js';
import { declareTable } from './wrapped-table.js';

await declareTable('attacks of scripts that are inspected', 'discovery-attack-runner', DISCOVERY_ATTACKS);
