import { arch, release, type } from 'node:os';
import { readKernelFile } from './blockers.js';
import { type Finding, ok, warn } from './finding.js';

/** What the kernel says it offers. Whether it really lets Pungi in is for the isolation row to tell. */
export function kernelFindings(platform = process.platform, read = readKernelFile): Finding[] {
  const system = `${type()} ${release()}, ${arch()}`;
  if (platform !== 'linux') {
    return [warn('System', system, 'Only Linux isolates runs; elsewhere they need ALLOW_UNSANDBOXED=true.')];
  }
  return [ok('System', system), userNamespaces(read), landlock(read), seccomp(read)];
}

type Read = (path: string) => string | undefined;

function userNamespaces(read: Read): Finding {
  const name = 'User namespaces';
  const most = read('/proc/sys/user/max_user_namespaces');
  if (read('/proc/sys/kernel/unprivileged_userns_clone') === '0') {
    return warn(name, 'switched off', 'Allow them with: sysctl -w kernel.unprivileged_userns_clone=1');
  }
  if (read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1') {
    const todo = 'Allow them with: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
    return warn(name, 'restricted by AppArmor', todo);
  }
  if (most === undefined) return warn(name, 'not in this kernel', 'Use a kernel built with CONFIG_USER_NS.');
  if (most === '0')
    return warn(name, 'none allowed', 'Allow them with: sysctl -w user.max_user_namespaces=15000');
  return ok(name, `offered (up to ${most})`);
}

function landlock(read: Read): Finding {
  const modules = read('/sys/kernel/security/lsm');
  if (modules === undefined)
    return ok('Landlock', 'not told by this system; the isolation row names it if in force');
  if (modules.split(',').includes('landlock')) return ok('Landlock', 'offered');
  return warn('Landlock', `not among ${modules}`, 'Add landlock to the kernel parameter lsm=.');
}

function seccomp(read: Read): Finding {
  const actions = read('/proc/sys/kernel/seccomp/actions_avail');
  if (actions !== undefined) return ok('Seccomp', 'offered');
  return warn('Seccomp', 'not in this kernel', 'Use a kernel built with CONFIG_SECCOMP_FILTER.');
}
