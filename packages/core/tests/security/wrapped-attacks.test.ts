import { WRAPPED_ATTACKS } from './wrapped-attacks.js';
import { declareTable } from './wrapped-table.js';

await declareTable('attacks of wrapped scripts', 'wrapped-attack-runner', WRAPPED_ATTACKS);
