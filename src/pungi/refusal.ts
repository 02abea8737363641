import { randomUUID } from 'node:crypto';
import type { PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import type { PackageResult } from '../contract/environment.js';
import type { Outcome, PythonException, Verdict } from '../contract/outcome.js';
import { pythonError } from '../engine/verdict.js';

/** An outcome for what never ran. */
export function refusal(error: PungiError, code: unknown, profile: string | null = null): Outcome {
  const none = { text: '', bytes: 0, truncated: false };
  return {
    runId: randomUUID(),
    verdict: refusedVerdict(error),
    stdout: none,
    stderr: none,
    value: null,
    usage: { wallMs: 0, cpuMs: 0, peakMemoryMb: 0, waitMs: 0, installMs: 0 },
    codeSha256: typeof code === 'string' ? sha256(code) : '',
    isolation: { tier: null, features: [] },
    environment: null,
    profile,
    cached: null,
    disclosure: null,
  };
}

/** An outcome for what was run, and cannot be told as it went. */
export const failed = (outcome: Outcome, error: PungiError): Outcome => ({
  ...outcome,
  verdict: refusedVerdict(error),
  value: null,
});

function refusedVerdict({ code, message, details }: PungiError): Verdict {
  if (code === 'INVALID_INPUT') {
    return {
      kind: 'invalid',
      code,
      message,
      issues: (details['issues'] as string[] | undefined) ?? [message],
    };
  }
  if (code === 'PYTHON_ERROR') return pythonError(details['exception'] as PythonException);
  if (code === 'SERVER_BUSY') return { kind: 'busy', code, message, queued: Number(details['queued'] ?? 0) };
  if (code === 'CANCELLED') return { kind: 'cancelled', code, message };
  if (code === 'DENIED')
    return (details['verdict'] as Verdict | undefined) ?? { kind: 'denied', code, message, reason: message };
  if (code === 'AUDIT_UNAVAILABLE' || code === 'AUDIT_DAMAGED') return { kind: 'unrecorded', code, message };
  if (code === 'INTERPRETER_NOT_FOUND' || code === 'SANDBOX_UNAVAILABLE')
    return { kind: 'unavailable', code, message };
  if (isEnvironmentCode(code)) {
    const { packages, explanation } = details as { packages?: PackageResult[]; explanation?: string };
    const why = { ...(packages && { packages }), ...(explanation !== undefined && { explanation }) };
    return { kind: 'no-environment', code, message, ...why };
  }
  return { kind: 'internal', code: 'INTERNAL_ERROR', message };
}

type EnvironmentCode = Extract<Verdict, { kind: 'no-environment' }>['code'];
const ENVIRONMENT_CODES: readonly string[] = [
  'ENVIRONMENT_NOT_FOUND',
  'ENVIRONMENT_IN_USE',
  'ENVIRONMENT_DAMAGED',
  'PACKAGE_INSTALLATION_ERROR',
  'TOOL_UNAVAILABLE',
] satisfies EnvironmentCode[];
const isEnvironmentCode = (code: string): code is EnvironmentCode => ENVIRONMENT_CODES.includes(code);
