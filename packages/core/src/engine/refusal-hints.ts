import type { Tier } from '../contract/outcome.js';

/** The parts of an exception that show what the sandbox refused. */
interface Refusal {
  tier: Tier | null;
  profile: string | null;
  allowedHosts: readonly string[];
  /** The errno of an OSError. */
  errno: number | null;
  /** Class and message. */
  text: string;
  traceback: string;
}

interface Hint {
  tiers: readonly Tier[];
  applies: (refusal: Refusal) => boolean;
  /** One sentence: what is refused, why, and the alternative. */
  hint: string | ((refusal: Refusal) => string);
}

const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;
const ENETUNREACH = 101;

/** Messages of libc and of libraries that wrap its errors. */
const NO_NETWORK =
  /Network is unreachable|Name or service not known|Temporary failure in name resolution|No address associated|NameResolutionError|Failed to resolve|Could not contact DNS servers/;
const BOTH: readonly Tier[] = ['namespace', 'landlock'];
/** Whether one of these errors occurred where the traceback shows this text. */
const failed =
  (shown: RegExp, ...errors: (number | null)[]) =>
  ({ errno, traceback }: Refusal) =>
    errors.includes(errno) && shown.test(traceback);
const madeSocket = failed(/\bsocket\b/, EACCES);
/** Hosts beyond this number are left to the profile. */
const MAX_HOSTS = 5;

/** Says what the profile of the run reaches. */
function noNetwork({ profile, allowedHosts }: Refusal): string {
  const who = profile === null ? 'This run' : `The profile "${profile}"`;
  if (allowedHosts.length === 0)
    return `${who} has no network: pass the data with the run, or use a profile that allows the host.`;
  const hosts = allowedHosts.slice(0, MAX_HOSTS).join(', ');
  const more = allowedHosts.length > MAX_HOSTS ? ', …' : '';
  return `${who} reaches only ${hosts}${more}, over HTTP and HTTPS: use one of them, or a profile that allows the host.`;
}

/** The first one that applies is reported. */
const HINTS: readonly Hint[] = [
  {
    tiers: BOTH,
    applies: ({ errno, text }) => errno === ENETUNREACH || NO_NETWORK.test(text),
    hint: noNetwork,
  },
  {
    tiers: ['namespace'],
    applies: madeSocket,
    hint: 'Raw, packet and similar sockets are refused, since they reach parts of the kernel that exploits start with: use TCP, UDP or unix sockets.',
  },
  {
    tiers: ['landlock'],
    applies: madeSocket,
    hint: 'The landlock tier has no network, not even a loopback: the namespace tier gives each run its own, and "pungi doctor" says what it needs.',
  },
  {
    tiers: ['landlock'],
    applies: ({ text }) => text.includes('out of pty devices'),
    hint: 'The landlock tier has no terminals, since those of /dev/pts are the host\'s: use pipes, or the namespace tier ("pungi doctor" says what it needs).',
  },
  {
    tiers: ['landlock'],
    applies: failed(/sem_open|shm_open|\/dev\/shm/, EACCES, ENOSYS),
    hint: 'The landlock tier has no /dev/shm of its own: use the temporary folder (tempfile.gettempdir()) or multiprocessing.shared_memory, or the namespace tier ("pungi doctor" says what it needs).',
  },
  {
    tiers: BOTH,
    applies: failed(/flock/, ENOSYS),
    hint: 'flock works on files that the run made, and not where a profile shows data, since a lock would make programs of the host wait: use fcntl.lockf.',
  },
  {
    tiers: BOTH,
    applies: failed(/inotify|watchdog|watchfiles/, EPERM, ENOSYS, null),
    hint: 'inotify is refused, since it shows what others do with files: poll instead, with watchdog.observers.polling.PollingObserver or WATCHFILES_FORCE_POLLING=true.',
  },
  {
    tiers: BOTH,
    applies: failed(/mmap/, EPERM),
    hint: 'Shared memory without a file is refused, since nobody could count it: map a file, or use multiprocessing.shared_memory.',
  },
  {
    tiers: BOTH,
    applies: failed(/splice|vmsplice|\btee\b/, ENOSYS),
    hint: 'splice and tee are refused, since one byte keeps a whole page that nobody counts: read and write, or use os.copy_file_range.',
  },
  {
    tiers: BOTH,
    applies: failed(/set(res|re|e)?[ug]id|setgroups|initgroups|capset/, EPERM),
    hint: 'A run cannot change its identity, not even to its own: leave out the step that drops privileges.',
  },
  {
    tiers: BOTH,
    applies: ({ errno }) => errno === ENOSYS,
    hint: 'The sandbox does not have this system call: "System calls" in SECURITY.md lists what is refused, why, and what works instead.',
  },
];

export function refusalHint(refusal: Refusal): string | null {
  const { tier } = refusal;
  const found = HINTS.find(({ tiers, applies }) => tier !== null && tiers.includes(tier) && applies(refusal));
  if (found === undefined) return null;
  return typeof found.hint === 'string' ? found.hint : found.hint(refusal);
}
