import type { AuditRecorder } from '../audit/recorder.js';
import { SELF } from '../contract/caller.js';
import type { EnvironmentEvent } from '../contract/environment.js';

/** Records changes of environments in the audit trail. */
export const recordEnvironment =
  (audit: AuditRecorder) =>
  async (event: EnvironmentEvent): Promise<void> => {
    const { caller, environment } = event;
    const who = { client: caller.client || SELF.client, token: caller.token };
    if ('requested' in event) {
      const { action, requested, added, removed, error, lock } = event;
      await audit.install({ ...who, environment, action, requested, added, removed, error }, lock);
    } else {
      const { action, details, lock } = event;
      await audit.environment({ ...who, environment, action, details }, lock);
    }
  };
