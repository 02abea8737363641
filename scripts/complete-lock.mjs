// Adds to package-lock.json the packages of other systems that a registry mirror did not offer when the lock was
// written. Without them `npm ci` refuses the lock. Run it after changing dependencies; it changes nothing else.
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from './repository.mjs';

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];
const LIBRARIES = { gnu: 'glibc', gnueabihf: 'glibc', musl: 'musl' };

const path = resolve(root, process.argv[2] ?? 'package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8'));
for (const [where, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const known = [`${where}/node_modules/${name}`, `node_modules/${name}`].some(
      (place) => place in lock.packages,
    );
    if (!known) lock.packages[`node_modules/${name}`] = entryFor(name, version, entry.dev);
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);

/** The name of such a package contains its system. */
function entryFor(name, version, dev) {
  const parts = name.split('/').at(-1).split('-');
  const among = (known) => known.filter((word) => parts.includes(word));
  const libc = parts.flatMap((word) => LIBRARIES[word] ?? []);
  const [cpu, os] = [among(PROCESSORS), among(SYSTEMS)];
  return {
    version,
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(libc.length > 0 && os.includes('linux') && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}
