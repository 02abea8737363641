import { Outcome, Value } from '../../contract/outcome.js';
import { advertiseResult } from './advertise.js';

/** Pictures are told once, as content of their own kind. */
const TOLD = Outcome.extend({ value: Value.omit({ content: true }).nullable() });

/** What few look at, or few profiles bring: the documentation tells their fields. */
const RARE = ['isolation', 'cached', 'disclosure'];

export const OUTCOME = advertiseResult(TOLD, RARE);

/** Of a tool that refuses every call: there is nothing to tell but why. */
export const REFUSED_OUTCOME = advertiseResult(Outcome.pick({ verdict: true }), ['verdict']);
