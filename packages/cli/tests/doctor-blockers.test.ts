import { expect, test } from 'vitest';
import { blockerOf, cgroupBlockerOf, type MachineFacts } from '../src/doctor/blockers.js';

interface Machine {
  root?: boolean;
  files?: Record<string, string>;
  paths?: string[];
}

const machineFacts = ({ root = false, files = {}, paths = [] }: Machine): MachineFacts => ({
  isRoot: root,
  read: (path) => files[path],
  exists: (path) => paths.includes(path),
});

const NOT_PERMITTED = '[Errno 1] unshare: Operation not permitted';
const CLONE_OFF = { files: { '/proc/sys/kernel/unprivileged_userns_clone': '0' } };
const APPARMOR = { files: { '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1' } };
const DOCKER = { paths: ['/.dockerenv'] };
const USER_MANAGER = { paths: [`/run/user/${process.getuid?.()}/systemd`] };

test.each<[string, string, Machine, string]>([
  ['user namespaces switched off', NOT_PERMITTED, CLONE_OFF, 'kernel.unprivileged_userns_clone=1'],
  [
    'user namespaces at zero',
    '[Errno 28] unshare: No space left on device',
    { files: { '/proc/sys/user/max_user_namespaces': '0' } },
    'user.max_user_namespaces=15000',
  ],
  ['user namespaces used up', '[Errno 28] clone: No space left on device', {}, 'user.max_user_namespaces'],
  [
    "Ubuntu's AppArmor at unshare",
    '[Errno 13] unshare: Permission denied',
    APPARMOR,
    'apparmor_restrict_unprivileged_userns=0',
  ],
  [
    "Ubuntu's AppArmor at the identity",
    '[Errno 1] uid_map: Operation not permitted',
    APPARMOR,
    'apparmor_restrict_unprivileged_userns=0',
  ],
  ["Ubuntu's AppArmor at the first mount", '[Errno 13] mount /: Permission denied', APPARMOR, 'profile'],
  [
    'an AppArmor profile without user namespaces',
    '[Errno 13] clone: Permission denied',
    { files: { '/proc/self/attr/current': 'some-server (enforce)' } },
    'aa-status',
  ],
  ["docker's filter", NOT_PERMITTED, DOCKER, 'seccomp=unconfined'],
  ["docker's AppArmor profile", '[Errno 13] mount /: Permission denied', DOCKER, 'apparmor=unconfined'],
  [
    "docker's masked /proc",
    '[Errno 1] mount /tmp/proc: Operation not permitted',
    DOCKER,
    'systempaths=unconfined',
  ],
  [
    'a confinement outside of containers',
    '[Errno 13] mount /: Permission denied',
    { files: { '/proc/self/attr/current': 'lxc-container-default (enforce)' } },
    'apparmor=unconfined',
  ],
  ['root without capabilities', NOT_PERMITTED, { root: true }, 'CAP_SYS_ADMIN'],
  ['a kernel without user namespaces', '[Errno 22] unshare: Invalid argument', {}, 'CONFIG_USER_NS'],
  ['a denial that nobody knows', NOT_PERMITTED, {}, 'dmesg'],
  ['/proc that is covered', '[Errno 1] mount /proc: Operation not permitted', {}, 'findmnt'],
  [
    'landlock not switched on',
    'landlock is not available in this kernel',
    { files: { '/sys/kernel/security/lsm': 'yama,apparmor' } },
    'lsm=',
  ],
  ['no landlock', 'landlock is not available in this kernel', {}, '5.13'],
  ['no filter for this machine', 'no system call filter for riscv64', {}, 'CONFIG_SECCOMP_FILTER'],
  ['a kernel without filters', '[Errno 22] prctl 22: Invalid argument', {}, 'CONFIG_SECCOMP_FILTER'],
  [
    "root's own interpreter",
    "the sandbox's user cannot read /root/python; use an interpreter that every user can read",
    {},
    'PUNGI_PYTHON',
  ],
  ['a busy machine', 'a supervisor did not answer', {}, 'again'],
])('a tier that %s keeps away: its fix is told', (_, error, machine, fix) => {
  expect(blockerOf(error, machineFacts(machine))?.fix).toContain(fix);
});

test('what an ordinary user may not do is no reason for root', () => {
  const fix = blockerOf(NOT_PERMITTED, machineFacts({ root: true, ...CLONE_OFF }))?.fix;
  expect(fix).toContain('CAP_SYS_ADMIN');
});

test('an error that nobody knows has no made-up fix', () => {
  expect(blockerOf('the fork server ended with SIGSEGV', machineFacts({}))).toBeUndefined();
});

test.each<[string, string, Machine, string]>([
  ['switched off', 'switched off by CGROUPS=off', {}, 'CGROUPS=auto'],
  [
    'of a login shell',
    'the cgroup /sys/fs/cgroup/user.slice is not delegated to this user',
    USER_MANAGER,
    'systemd-run --user --scope -p Delegate=yes',
  ],
  [
    'of a machine without systemd',
    'the cgroup /sys/fs/cgroup/memory is not writable for this user',
    {},
    'Delegate=yes',
  ],
  [
    "of root's login shell",
    'the cgroup /sys/fs/cgroup/user.slice holds processes of others',
    { root: true },
    'systemd-run --scope -p Delegate=yes',
  ],
  ['of a container', '/sys/fs/cgroup is mounted read-only', { root: true }, 'writable-cgroups=true'],
  [
    'of a kernel without the controller',
    'no cgroup file system with a memory controller is mounted',
    {},
    'cgroup_enable=memory',
  ],
])('cgroups %s: what provides them is told', (_, reason, machine, fix) => {
  expect(cgroupBlockerOf(reason, machineFacts(machine))?.fix).toContain(fix);
});
