import type { Tier } from '../../packages/core/src/contract/outcome.js';
import type { Architecture } from './debian.js';

/** A machine to boot, what is special about it, and what Pungi is expected to report there. */
export interface Guest {
  name: string;
  suite: 'bookworm' | 'trixie';
  architecture: Architecture;
  user: 'root' | 'user';
  /** Added to the kernel's command line. */
  kernelOptions?: string;
  /** Shell commands that root runs before the tests. */
  setup?: string[];
  /** A prefix of the command that runs the tests, such as a confinement. */
  within?: string;
  /** The tiers that work; every other one must be refused with a reason that matches. */
  tiers: Exclude<Tier, 'process' | 'spawn'>[];
  refused?: Partial<Record<Tier, RegExp>>;
  /** What `isolation.features` of a run in each of the tiers must contain. */
  features?: string[];
  /** What `pungi doctor` must say. */
  doctor?: RegExp[];
}

const CGROUP2 = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup';
const DELEGATED = [
  CGROUP2,
  'echo "+memory +pids +cpu" > /sys/fs/cgroup/cgroup.subtree_control',
  'mkdir /sys/fs/cgroup/session',
  'chown 1000:1000 /sys/fs/cgroup/session /sys/fs/cgroup/session/cgroup.procs /sys/fs/cgroup/session/cgroup.subtree_control',
];
/** As systemd does it: nothing else is in the cgroup that the user gets. */
const IN_DELEGATED = `sh -c 'echo $$ > /sys/fs/cgroup/session/cgroup.procs; exec "$@"' sh`;

export const GUESTS: Guest[] = [
  {
    name: 'Linux 6.1, ordinary user, cgroup v2 without delegation',
    suite: 'bookworm',
    architecture: 'amd64',
    user: 'user',
    setup: [CGROUP2],
    tiers: ['namespace', 'landlock'],
    features: ['landlock-2'],
    // There is no systemd to ask for one.
    doctor: [/Delegate=yes/],
  },
  {
    name: 'Linux 6.1, ordinary user, delegated cgroup v2',
    suite: 'bookworm',
    architecture: 'amd64',
    user: 'user',
    setup: DELEGATED,
    within: IN_DELEGATED,
    tiers: ['namespace', 'landlock'],
    features: ['landlock-2', 'cgroup'],
  },
  {
    name: 'Linux 6.1, root, cgroup v2',
    suite: 'bookworm',
    architecture: 'amd64',
    user: 'root',
    setup: [CGROUP2],
    tiers: ['namespace', 'landlock'],
    features: ['landlock-2', 'cgroup'],
  },
  {
    name: 'Linux 6.1, kernel.unprivileged_userns_clone=0',
    suite: 'bookworm',
    architecture: 'amd64',
    user: 'user',
    setup: ['sysctl -w kernel.unprivileged_userns_clone=0'],
    tiers: ['landlock'],
    refused: { namespace: /user namespace|unshare/i },
    doctor: [/kernel\.unprivileged_userns_clone=1/],
  },
  {
    // Ubuntu's own switch is not in Debian's kernel; a profile without user namespaces comes to the same refusal.
    name: 'Linux 6.12, AppArmor denies user namespaces as on Ubuntu 24.04',
    suite: 'trixie',
    architecture: 'amd64',
    user: 'user',
    setup: ['apparmor_parser -r /guest/deny-userns.profile'],
    within: 'aa-exec -p deny-userns --',
    tiers: ['landlock'],
    refused: { namespace: /./ },
    doctor: [/apparmor/i],
  },
  {
    name: 'Linux 6.1, AppArmor denies mounts as in Docker',
    suite: 'bookworm',
    architecture: 'amd64',
    user: 'user',
    setup: ['apparmor_parser -r /guest/deny-mount.profile'],
    within: 'aa-exec -p deny-mount --',
    tiers: ['landlock'],
    refused: { namespace: /mount/i },
    doctor: [/apparmor/i],
  },
  {
    name: 'Linux 6.1 without landlock',
    suite: 'bookworm',
    architecture: 'amd64',
    user: 'user',
    kernelOptions: 'lsm=lockdown,yama,apparmor',
    tiers: ['namespace'],
    refused: { landlock: /landlock/i },
    doctor: [/landlock/i],
  },
  {
    name: 'Linux 6.12, ordinary user',
    suite: 'trixie',
    architecture: 'amd64',
    user: 'user',
    tiers: ['namespace', 'landlock'],
    features: ['landlock-6'],
  },
  {
    name: 'Linux 6.1 on aarch64, ordinary user',
    suite: 'bookworm',
    architecture: 'arm64',
    user: 'user',
    tiers: ['namespace', 'landlock'],
    features: ['landlock-2'],
  },
];
