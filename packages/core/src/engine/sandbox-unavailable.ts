import { PungiError } from '../base/errors.js';
import type { Tier } from '../contract/outcome.js';

interface Choice {
  tier: Tier | 'auto';
  allowUnsandboxed: boolean;
}

/** The error on a system without the sandbox, unless another tier is allowed or requested. */
export const needsLinux = ({ tier }: Pick<Choice, 'tier'>): PungiError =>
  new PungiError(
    'SANDBOX_UNAVAILABLE',
    `${tier === 'auto' ? 'The sandbox' : `The ${tier} tier`} needs Linux: start Pungi in a container or, on Windows, inside WSL 2; if you trust the code, ALLOW_UNSANDBOXED=true runs it without isolation${tier === 'auto' ? '' : ', in the spawn tier'}.`,
  );

/** The error for a tier without isolation that is not allowed. */
export const needsPermission = (tier: Tier): PungiError =>
  new PungiError(
    'SANDBOX_UNAVAILABLE',
    `The ${tier} tier does not isolate; set ALLOW_UNSANDBOXED=true if you trust the code.`,
  );

/** The error if no tier is available: the reasons, and the fix. */
export function sandboxUnavailable(
  refused: readonly { tier: Tier; reason: string }[],
  { tier, allowUnsandboxed }: Choice,
): PungiError {
  if (tier === 'process' && !allowUnsandboxed) return needsPermission(tier);
  const why = refused.map(({ tier: name, reason }) => `${name}: ${reason}`).join('; ');
  const advice = adviceFor(refused, allowUnsandboxed);
  return new PungiError(
    'SANDBOX_UNAVAILABLE',
    `No sandbox can be entered here${why ? ` (${why})` : ''}. ${advice}`,
    { refused },
  );
}

/** Matches reasons that name their own fix, which the kernel has nothing to do with. */
const NAMES_ITS_FIX = /; use |interpreter|identity/;

function adviceFor(refused: readonly { reason: string }[], allowUnsandboxed: boolean): string {
  if (allowUnsandboxed || refused.some(({ reason }) => NAMES_ITS_FIX.test(reason)))
    return 'Fix what is named there, or choose another interpreter with PUNGI_PYTHON.';
  return 'Allow unprivileged user namespaces or use Linux 5.13 or newer; if you trust the code, ALLOW_UNSANDBOXED=true runs it without isolation.';
}
