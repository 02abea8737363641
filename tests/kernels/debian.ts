import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Architecture = 'amd64' | 'arm64';

const SOURCES = '/etc/apt/sources.list.d';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Packages of any Debian release and architecture, without touching those of this machine: apt works on lists and a
 * status of its own below `folder`.
 */
export class DebianPackages {
  readonly #folder: string;
  readonly #options: string[];

  constructor(cache: string, suite: string, architecture: Architecture) {
    this.#folder = join(cache, `${suite}-${architecture}`);
    const settings = {
      'Dir::State': this.#folder,
      'Dir::State::lists': join(this.#folder, 'lists'),
      'Dir::State::status': join(this.#folder, 'status'),
      'Dir::Cache': join(this.#folder, 'cache'),
      'Dir::Etc::sourcelist': join(this.#folder, 'sources.list'),
      'Dir::Etc::sourceparts': '/dev/null',
      'APT::Architecture': architecture,
      'APT::Architectures': architecture,
      'Debug::NoLocking': '1',
      'APT::Sandbox::User': 'root',
    };
    this.#options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    if (existsSync(join(this.#folder, 'sources.list'))) return;
    for (const path of ['lists/partial', 'cache/archives/partial'])
      mkdirSync(join(this.#folder, path), { recursive: true });
    writeFileSync(join(this.#folder, 'status'), '');
    this.#apt(['update'], `deb [arch=${architecture} signed-by=${KEYRING}] ${mirror()} ${suite} main\n`);
  }

  /** Unpacks the packages, and with `needs` all that they depend on, into a folder that is kept for the next time. */
  unpack(name: string, packages: string[]): string {
    const root = join(this.#folder, name);
    if (existsSync(root)) return root;
    const before = this.#archives();
    this.#apt(['-y', '-qq', '--no-install-recommends', '--download-only', 'install', ...packages]);
    const unpacking = `${root}.unpacking`;
    rmSync(unpacking, { recursive: true, force: true });
    mkdirSync(unpacking);
    for (const archive of this.#archives().filter((file) => !before.includes(file)))
      execFileSync('dpkg-deb', ['-x', archive, unpacking]);
    renameSync(unpacking, root);
    for (const archive of this.#archives()) rmSync(archive);
    return root;
  }

  #archives(): string[] {
    const folder = join(this.#folder, 'cache/archives');
    return readdirSync(folder)
      .filter((file) => file.endsWith('.deb'))
      .map((file) => join(folder, file));
  }

  #apt(args: string[], sources?: string): void {
    const list = join(this.#folder, 'sources.list');
    if (sources !== undefined) writeFileSync(list, sources);
    try {
      execFileSync('apt-get', [...this.#options, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    } catch (error) {
      if (sources !== undefined) rmSync(list);
      throw error;
    }
  }
}

/** The mirror that this machine itself uses. */
function mirror(): string {
  const files = existsSync(SOURCES) ? readdirSync(SOURCES).map((name) => join(SOURCES, name)) : [];
  const text = [...files, '/etc/apt/sources.list']
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const found = /^URIs:\s*(\S+)/m.exec(text) ?? /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)/m.exec(text);
  if (found) return found[1]!;
  throw new Error('expected a Debian mirror in /etc/apt: the kernels under test are Debian packages.');
}
