import type { Verdict, VerdictKind } from '../contract/outcome.js';

/** Whose doing an ending is: the server kept its promise, broke it, or was asked for what it must refuse. */
export type Fault = 'none' | 'server' | 'caller';

type EnvironmentCode = Extract<Verdict, { kind: 'no-environment' }>['code'];

/**
 * Code that fails, exits or passes its limits was run as promised. What the caller took back, asked wrongly or may not
 * do says nothing about the server at all: a flood of it must not hide real failures behind a low rate.
 */
const FAULTS: Record<Exclude<VerdictKind, 'no-environment'>, Fault> = {
  ok: 'none',
  'python-error': 'none',
  exited: 'none',
  'timed-out': 'none',
  'cpu-exceeded': 'none',
  'memory-exceeded': 'none',
  'processes-exceeded': 'none',
  'disk-exceeded': 'none',
  'output-exceeded': 'none',
  // Code can send itself any signal, so a signal alone accuses nobody.
  killed: 'none',
  cancelled: 'caller',
  denied: 'caller',
  invalid: 'caller',
  busy: 'server',
  internal: 'server',
  unavailable: 'server',
  unrecorded: 'server',
};

const ENVIRONMENT_FAULTS: Record<EnvironmentCode, Fault> = {
  ENVIRONMENT_NOT_FOUND: 'caller',
  ENVIRONMENT_IN_USE: 'caller',
  // Mostly a name that does not exist, or versions that exclude each other.
  PACKAGE_INSTALLATION_ERROR: 'caller',
  ENVIRONMENT_DAMAGED: 'server',
  TOOL_UNAVAILABLE: 'server',
};

export const faultOf = (verdict: Verdict): Fault =>
  verdict.kind === 'no-environment' ? ENVIRONMENT_FAULTS[verdict.code] : FAULTS[verdict.kind];
