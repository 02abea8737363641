import { kindOf } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import { RunRequest, TOGETHER } from '../contract/run.js';
import { jsonFaults } from './issue-text.js';
import { tooMany } from './too-many.js';

/** A request of the right form. Throws INVALID_INPUT with every fault. */
export function parseRequest(raw: unknown): RunRequest {
  if (typeof raw !== 'object' || raw === null) throw invalid([`expected an object, got ${kindOf(raw)}`]);
  const many = tooMany(raw);
  if (many.length > 0) throw invalid(many);
  const plain = parsePlain(raw);
  if (plain !== undefined) return plain;
  const parsed = RunRequest.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(jsonFaults(parsed.error));
}

const invalid = (issues: string[]) =>
  new PungiError('INVALID_INPUT', `The request is not valid: ${issues.join('; ')}.`, { issues });

/**
 * The request, where it is a plain object without a fault. Every run waits for this, most have two or three of the fields, and
 * looking for the others takes longer than a tenth of some runs; so only those are checked that are there.
 */
function parsePlain(raw: unknown): RunRequest | undefined {
  if (typeof raw !== 'object' || raw === null || Object.getPrototypeOf(raw) !== Object.prototype) return;
  const request: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (!Object.hasOwn(RunRequest.shape, name)) return;
    const field = RunRequest.shape[name as keyof RunRequest].safeParse(value);
    if (!field.success) return;
    request[name] = field.data;
  }
  return TOGETHER.every(([holds]) => holds(request as RunRequest)) ? (request as RunRequest) : undefined;
}
