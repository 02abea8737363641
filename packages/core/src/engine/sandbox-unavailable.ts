import { PungiError } from '../base/errors.js';
import type { Tier } from '../contract/outcome.js';

export const noWindows = (): PungiError =>
  new PungiError(
    'SANDBOX_UNAVAILABLE',
    'This version cannot run Python on Windows itself; start Pungi inside WSL 2, where the sandbox works.',
  );

/** No tier could be entered: why, and what to do about it. */
export function sandboxUnavailable(
  refused: readonly { tier: Tier; reason: string }[],
  { tier, allowUnsandboxed }: { tier: Tier | 'auto'; allowUnsandboxed: boolean },
): PungiError {
  const why = refused.map(({ tier: name, reason }) => `${name}: ${reason}`).join('; ');
  const advice = adviceFor(refused, tier, allowUnsandboxed);
  return new PungiError(
    'SANDBOX_UNAVAILABLE',
    `No sandbox can be entered here${why ? ` (${why})` : ''}. ${advice}`,
    { refused },
  );
}

/** A reason that is about the interpreter or the identity says itself what to do; the kernel is then not to blame. */
const NAMES_ITS_FIX = /; use |interpreter|identity/;

function adviceFor(
  refused: readonly { reason: string }[],
  tier: Tier | 'auto',
  allowUnsandboxed: boolean,
): string {
  if (tier === 'process' && !allowUnsandboxed)
    return 'The process tier does not isolate; set ALLOW_UNSANDBOXED=true if you trust the code.';
  if (allowUnsandboxed || refused.some(({ reason }) => NAMES_ITS_FIX.test(reason)))
    return 'Fix what is named there, or choose another interpreter with PUNGI_PYTHON.';
  return 'Allow unprivileged user namespaces or use Linux 5.13 or newer; if you trust the code, ALLOW_UNSANDBOXED=true runs it without isolation.';
}
