import { PungiError } from '../base/errors.js';
import { RunRequest } from '../contract/run.js';
import { jsonFaults } from './issue-text.js';

/** A request of the right form. Throws INVALID_INPUT with every fault. */
export function parseRequest(raw: unknown): RunRequest {
  const parsed = RunRequest.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issues = jsonFaults(parsed.error);
  throw new PungiError('INVALID_INPUT', `The request is not valid: ${issues.join('; ')}.`, { issues });
}
