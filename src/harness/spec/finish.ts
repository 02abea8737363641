import type { ServerUnderTest, Step } from '../../contract/spec.js';
import type { PlannedTest } from './plan.js';
import { PLANNED_KEYS, resolveTest, VERBATIM_KEYS } from './resolve.js';
import { type Scope, type Substituted, substitute } from './substitute.js';

/** The last substitution, right before something runs. */

/** A test, with what was captured until now. What the plan is made of was replaced when it was made. */
export function finishTest(planned: PlannedTest, scope: Scope): Substituted<PlannedTest> {
  const verbatim = [...VERBATIM_KEYS, ...PLANNED_KEYS];
  const { value: test, missing } = resolveTest(planned.test, scope, { isLast: true }, verbatim);
  const { schema } = test.expected;
  const schemas = planned.schemas.map((one) =>
    one.from === 'schema' && schema !== undefined ? { ...one, schema } : one,
  );
  return { value: { ...planned, test, schemas }, missing };
}

export const finishStep = (step: Step, scope: Scope): Substituted<Step> =>
  substitute(step, scope, { isLast: true });

/** ${port} in a server's arguments, environment and address stands for a port that is free. */
export const finishServer = (server: ServerUnderTest, port: number): ServerUnderTest =>
  substitute(server, { variables: [{ port: String(port) }], captured: {}, environment: {} }, { isLast: true })
    .value;
