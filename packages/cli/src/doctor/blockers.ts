import { existsSync, readFileSync } from 'node:fs';

/** Facts about the machine that explain an error. */
export interface MachineFacts {
  isRoot: boolean;
  /** Returns the content of a file without its final newline; undefined if it cannot be read. */
  read: (path: string) => string | undefined;
  exists: (path: string) => boolean;
}

/** The reason why a tier or a cgroup is not available, and the fix. */
interface Blocker {
  found: string;
  fix: string;
}

interface Rule extends Blocker {
  /** Matches the error message of the Python half or of the kernel. */
  error: RegExp;
  /** A condition on the machine, for errors with several possible reasons. */
  when?: (here: MachineFacts) => boolean;
}

const SYSCTL = '/proc/sys';
const NAMESPACE_CALL = /\b(unshare|clone|uid_map|gid_map|setgroups)\b/;
const DENIED = /not permitted|[Pp]ermission denied/;
const denied = (call: RegExp) => new RegExp(`(?=.*${call.source}).*(${DENIED.source})`);

const isOff = (name: string) => (here: MachineFacts) => here.read(`${SYSCTL}/${name}`) === '0';
const isOn = (name: string) => (here: MachineFacts) => here.read(`${SYSCTL}/${name}`) === '1';
const inContainer = ({ exists }: MachineFacts) => exists('/.dockerenv') || exists('/run/.containerenv');
const isConfined = ({ read }: MachineFacts) =>
  /\((enforce|complain)\)$/.test(read('/proc/self/attr/current') ?? '');
const isFiltered = ({ read }: MachineFacts) => /^Seccomp:\s*2$/m.test(read('/proc/self/status') ?? '');
const hasUserManager = ({ exists }: MachineFacts) => exists(`/run/user/${process.getuid?.()}/systemd`);

/** The first rule that matches wins: facts about the machine come before guesses from the error. */
const RULES: readonly Rule[] = [
  {
    error: /root without capabilities/,
    found: 'root has no capabilities here',
    fix: 'Start Pungi as an ordinary user; in a container, with --user or "user:".',
  },
  {
    error: NAMESPACE_CALL,
    when: (here) => !here.isRoot && isOff('kernel/unprivileged_userns_clone')(here),
    found: 'user namespaces are switched off for ordinary users',
    fix: 'sysctl -w kernel.unprivileged_userns_clone=1',
  },
  {
    error: NAMESPACE_CALL,
    when: isOff('user/max_user_namespaces'),
    found: 'no user namespaces are allowed',
    fix: 'sysctl -w user.max_user_namespaces=15000',
  },
  {
    error: /\b(unshare|clone)\b.*No space left on device/,
    found: 'the kernel reached its limit for namespaces, or for their nesting',
    fix: 'Raise user.max_user_namespaces, user.max_pid_namespaces, user.max_mnt_namespaces and user.max_net_namespaces with sysctl -w.',
  },
  {
    error: /\b(unshare|clone|uid_map|gid_map|setgroups|mount)\b/,
    when: (here) => !here.isRoot && isOn('kernel/apparmor_restrict_unprivileged_userns')(here),
    found: 'AppArmor restricts user namespaces to programs with a profile',
    fix: 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give Node and Python a profile with "userns,": see docs/command-line.md.',
  },
  {
    error: denied(/\bmount\b.*\/proc\b/),
    when: inContainer,
    found: 'the container hides parts of /proc, so the kernel allows no other /proc inside it',
    fix: 'docker run --security-opt systempaths=unconfined …, or podman run --security-opt unmask=ALL …',
  },
  {
    error: denied(/\bmount\b/),
    when: (here) => inContainer(here) || isConfined(here),
    found: 'an AppArmor profile, docker-default in containers, denies mounts',
    fix: 'docker run --security-opt apparmor=unconfined …',
  },
  {
    // AppArmor refuses with EACCES, a system call filter with EPERM.
    error: /\b(unshare|clone)\b.*Permission denied/,
    when: isConfined,
    found: 'the AppArmor profile of the server denies user namespaces',
    fix: 'Add "userns," to the profile that aa-status shows for it, or start Pungi without one: see docs/command-line.md.',
  },
  {
    error: denied(NAMESPACE_CALL),
    when: (here) => inContainer(here) || isFiltered(here),
    found: "the container's system call filter denies namespaces",
    fix: 'docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …',
  },
  {
    error: denied(/\bunshare\b/),
    when: ({ isRoot }) => isRoot,
    found: 'root has no CAP_SYS_ADMIN here',
    fix: 'Start Pungi as an ordinary user, or give it CAP_SYS_ADMIN.',
  },
  {
    error: /\b(unshare|clone)\b.*(Invalid argument|Function not implemented)/,
    found: 'this kernel has no user namespaces',
    fix: 'Use a kernel built with CONFIG_USER_NS.',
  },
  {
    error: denied(NAMESPACE_CALL),
    found: 'a security module or a filter denies user namespaces',
    fix: 'Find the denial in the kernel log (dmesg) and allow userns for Node and Python there.',
  },
  {
    error: /\bmount\b.*\/proc\b/,
    found: 'the kernel does not allow a new /proc in a namespace',
    fix: 'Unmount what covers parts of /proc; findmnt -R /proc lists it.',
  },
  {
    error: denied(/\bmount\b/),
    found: 'mounts are denied',
    fix: 'Find the denial in the kernel log (dmesg).',
  },
  {
    error: /landlock is not available/,
    when: ({ read }) => read('/sys/kernel/security/lsm')?.split(',').includes('landlock') === false,
    found: 'landlock is not switched on',
    fix: 'Add landlock to the kernel parameter lsm=, or use a kernel built with CONFIG_SECURITY_LANDLOCK.',
  },
  {
    error: /landlock/,
    found: 'this kernel has no landlock',
    fix: 'Use Linux 5.13 or newer, built with CONFIG_SECURITY_LANDLOCK, with landlock in the kernel parameter lsm=.',
  },
  {
    error: /no system call filter|seccomp|prctl (22|38)\b/,
    found: 'system calls cannot be filtered here',
    fix: 'Use an x86_64 or aarch64 kernel built with CONFIG_SECCOMP_FILTER.',
  },
  {
    error: /interpreter/,
    found: 'the interpreter cannot be used in the sandbox',
    fix: 'Set PUNGI_PYTHON to one that every user can read, in its own folder.',
  },
  {
    error: /did not answer/,
    found: 'the machine is too busy, or a process was stopped',
    fix: 'Run pungi doctor again later.',
  },
];

const CGROUP_RULES: readonly Rule[] = [
  { error: /CGROUPS=off/, found: 'switched off', fix: 'CGROUPS=auto uses them if the system allows it.' },
  {
    error: /only Linux/,
    found: 'this system has none',
    fix: 'Run Pungi on Linux.',
  },
  {
    error: /read-only|Read-only/,
    found: 'the cgroup file system is mounted read-only',
    fix: 'docker run --security-opt writable-cgroups=true … (Docker 28), or podman run --security-opt unmask=/sys/fs/cgroup …',
  },
  {
    error: /no cgroup file system|no memory and pids controllers/,
    found: 'no memory controller',
    fix: 'Mount cgroup v2 (mount -t cgroup2 cgroup2 /sys/fs/cgroup); if the kernel disables the memory controller, boot it with cgroup_enable=memory.',
  },
  {
    error: /not delegated|not writable|processes of others|ermission denied|not permitted/,
    when: ({ isRoot }) => isRoot,
    found: 'the cgroup of the server is not delegated to it',
    fix: 'systemd-run --scope -p Delegate=yes pungi serve …',
  },
  {
    error: /not delegated|not writable|processes of others|ermission denied|not permitted/,
    when: hasUserManager,
    found: 'the cgroup of the server is not delegated to it',
    fix: 'systemd-run --user --scope -p Delegate=yes pungi serve …',
  },
  {
    error: /not delegated|not writable|processes of others|ermission denied|not permitted/,
    found: 'the cgroup of the server is not delegated to it',
    fix: 'Start Pungi as a systemd service with Delegate=yes, or have root give it a cgroup: see docs/configuration.md.',
  },
];

/** Returns undefined if no rule matches the error. */
export const blockerOf = (error: string, here = machineFacts()): Blocker | undefined =>
  match(RULES, error, here);
export const cgroupBlockerOf = (error: string, here = machineFacts()): Blocker | undefined =>
  match(CGROUP_RULES, error, here);

function match(rules: readonly Rule[], error: string, here: MachineFacts): Blocker | undefined {
  const rule = rules.find(({ error: pattern, when }) => pattern.test(error) && (when?.(here) ?? true));
  return rule && { found: rule.found, fix: rule.fix };
}

const machineFacts = (): MachineFacts => ({
  isRoot: process.getuid?.() === 0,
  read: readKernelFile,
  exists: existsSync,
});

export function readKernelFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
