import type { Tier } from '../contract/outcome.js';

/** An exception as far as it shows what the sandbox refused. */
interface Refusal {
  tier: Tier | null;
  /** Of an OSError. */
  errno: number | null;
  /** Class and message. */
  said: string;
  traceback: string;
}

interface Hint {
  tiers: readonly Tier[];
  applies: (refusal: Refusal) => boolean;
  /** One sentence: what is refused, why, and what to do instead. */
  hint: string;
}

const EACCES = 13;
const ENETUNREACH = 101;

/** The words of libc and of the libraries that wrap its errors. */
const NO_NETWORK =
  /Network is unreachable|Name or service not known|Temporary failure in name resolution|No address associated|NameResolutionError|Failed to resolve/;
const isSocketMade = ({ errno, traceback }: Refusal) =>
  errno === EACCES && /socket\.py", line \d+, in __init__|\bsocket\(/.test(traceback);
/** The first that applies is told. */
const HINTS: readonly Hint[] = [
  {
    tiers: ['namespace'],
    applies: ({ errno, said }) => errno === ENETUNREACH || NO_NETWORK.test(said),
    hint: 'Runs reach nothing but their own loopback: hand the data over with the run, or use a profile that allows the host.',
  },
  {
    tiers: ['namespace'],
    applies: isSocketMade,
    hint: 'Raw, packet and similar sockets are refused, since they reach parts of the kernel that exploits start with: use TCP, UDP or unix sockets.',
  },
  {
    tiers: ['landlock'],
    applies: (refusal) => isSocketMade(refusal) || NO_NETWORK.test(refusal.said),
    hint: 'The landlock tier has no network, not even a loopback: the namespace tier gives each run its own, and "pungi doctor" says what it needs.',
  },
];

export function refusalHint(refusal: Refusal): string | null {
  const { tier } = refusal;
  return (
    HINTS.find(({ tiers, applies }) => tier !== null && tiers.includes(tier) && applies(refusal))?.hint ??
    null
  );
}
