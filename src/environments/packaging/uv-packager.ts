import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import type { ToolEnd } from '../../sandbox/tool.js';
import { sweepCache } from '../store/venv-tree.js';
import { buildJailFor, inJail, removeAbandonedBuilds } from './build-jail.js';
import { Errand, listed } from './errand.js';
import { type Attempt, failure, unreachable } from './failure.js';
import { findUnreachable } from './index-reach.js';
import type { Forget, PackagingOptions, Pin, Target, Wish } from './packager.js';
import { parsePins, renderPins } from './pins.js';
import { readPipSettings } from './pip-settings.js';
import { checkRequirements } from './requirement-text.js';
import { withTemporaryFolder } from './temporary-folder.js';
import { toolEnvironment } from './tool-environment.js';
import { type Order, ToolPackager } from './tool-packager.js';
import { CacheSnapshot } from './uv-cache.js';
import { readUvConfiguration } from './uv-configuration.js';
import { isAddress, type UvSettings, uvSettings } from './uv-settings.js';

interface UvOrder extends Order {
  verb: 'compile' | 'install';
  stdin: string;
}

/** The settings in force, as they were a moment ago. */
interface Circumstances extends UvSettings {
  /** Addresses of indexes, the default one first. */
  indexes: string[];
}

/** What is resolved is installed right after: nothing is looked at twice in between. */
const RECENT_MS = 5000;
const CLEANING_MS = 60_000;
const LOOK_EVERY_MS = 300;
const WHEELS_ONLY = ['--only-binary', ':all:'];
/** Said in full, so that no setting of the user's uv changes what the answer looks like. */
const ANSWER = [
  ...[
    '--generate-hashes',
    '--no-header',
    '--no-annotate',
    '--no-universal',
    '--strip-extras',
    '--strip-markers',
  ],
  ...['--no-emit-index-url', '--no-emit-find-links', '--no-emit-build-options', '--no-emit-index-annotation'],
];
const PINNED = ['--no-compile-bytecode', '--no-deps', '--require-hashes', '-r', '-'];
/** What a user may wish for when versions are chosen says nothing about versions that are chosen already. */
const WISHES = ['UV_CONSTRAINT', 'UV_OVERRIDE', 'UV_EXCLUDE'];

export class UvPackager extends ToolPackager {
  readonly #cache = join(this.settings.base, '.cache', 'uv');
  #recent: { at: number; circumstances: Promise<Circumstances> } | undefined;

  /** Packages that a resolution brought into the cache, as happens where the index has no metadata on its own. */
  readonly #fresh = new Set<string>();

  async resolve({ python, requirements, known }: Wish, options: PackagingOptions): Promise<Pin[]> {
    checkRequirements(requirements);
    const errand = new Errand(`Resolving ${listed(requirements)}`, options);
    return withTemporaryFolder('resolve', async (folder) => {
      // uv takes what the answer's file says already for the versions to prefer.
      const answer = join(folder, 'pins.txt');
      await writeFile(answer, renderPins(known.filter(({ url }) => url === undefined)));
      await this.#bounded(options, [], errand, {
        verb: 'compile',
        args: ['-', '--python', python, '--output-file', answer, ...ANSWER],
        stdin: `${requirements.join('\n')}\n`,
        python,
        fills: [folder],
        attempt: { tool: this.tool, goal: 'resolved', asked: requirements, sources: options.sources },
      });
      return parsePins(await readFile(answer, 'utf8'));
    });
  }

  async installPinned({ python, venv }: Target, pins: Pin[], options: PackagingOptions): Promise<Forget> {
    const stdin = renderPins(pins);
    const asked = pins.map(({ name }) => name);
    const errand = new Errand(`Installing ${listed(asked)}`, options);
    return this.#bounded(options, asked, errand, {
      verb: 'install',
      // Never the environment's own interpreter: it would run the .pth files of packages, outside of any sandbox.
      args: ['--python', python, '--prefix', venv, ...PINNED],
      stdin,
      python,
      fills: [venv],
      attempt: { tool: this.tool, goal: 'installed', asked, sources: options.sources },
    });
  }

  async prune(options: PackagingOptions): Promise<void> {
    const errand = new Errand('Pruning the cache', options);
    const { python, base } = this.settings;
    const args = ['cache', 'prune', '--cache-dir', this.#cache, '--no-progress'];
    const end = await errand.run({ python, command: this.tool.path, args, env: this.#env() });
    const attempt: Attempt = {
      tool: this.tool,
      goal: 'pruned',
      asked: ['The cache'],
      sources: options.sources,
    };
    if (end.status !== 0) throw failure(attempt, end);
    await removeAbandonedBuilds(base);
  }

  /**
   * What is rejected leaves nothing in the cache, and what unpacks to more than may be there is stopped on the way. Gives what
   * takes it out of the cache where it is rejected later.
   */
  async #bounded(
    options: PackagingOptions,
    names: string[],
    errand: Errand,
    order: UvOrder,
  ): Promise<Forget> {
    const before = await CacheSnapshot.take(this.#cache);
    const forget = async () => this.#forget(await before.newPackages(), names, options);
    const watch = watchGrowth(before, this.settings.maxMb, (why) => errand.stop(why));
    try {
      await this.#seek(errand, order);
      if (order.verb === 'compile') for (const name of await before.newPackages()) this.#fresh.add(name);
      return forget;
    } catch (error) {
      await forget();
      throw error;
    } finally {
      clearInterval(watch);
    }
  }

  /** Whoever is cancelled does not wait for it to end, and what cannot be removed is pruned some day. */
  async #forget(added: string[], names: string[], { sources }: PackagingOptions): Promise<void> {
    const wanted = new Set([...added, ...names.filter((name) => this.#fresh.delete(name))]);
    const { python } = this.settings;
    const errand = new Errand('Cleaning the cache', { sources, timeoutMs: CLEANING_MS });
    const places = ['--cache-dir', this.#cache, '--no-progress'];
    const args = ['cache', 'clean', ...wanted, ...places];
    try {
      if (wanted.size > 0) await errand.run({ python, command: this.tool.path, args, env: this.#env() });
      await sweepCache(python, this.#cache);
    } catch {
      // Another uv holds the cache for longer.
    }
  }

  async #seek(errand: Errand, order: UvOrder): Promise<void> {
    const uv = await this.#uvSettings(errand, order);
    const addresses = [...uv.indexes, ...uv.findLinks.filter(isAddress)];
    const silent = uv.env['UV_OFFLINE'] ? [] : await findUnreachable(addresses, uv.env);
    if (silent.length > 0) return this.#seekInCache(errand, order, uv, silent);
    const end = await this.#run(errand, order, uv, WHEELS_ONLY);
    if (end.status === 0) return;
    if (!errand.options.sources.includes('sdist')) throw failure(order.attempt, end);
    errand.tell('Wheels do not suffice: building from source, in a sandbox');
    const built = await this.#build(errand, order, uv);
    if (built.status !== 0) throw failure(order.attempt, built);
  }

  /** Waiting for an index that does not answer is long, so what is cached comes first. */
  async #seekInCache(errand: Errand, order: UvOrder, uv: Circumstances, silent: string[]): Promise<void> {
    errand.tell(`No network (${silent.join(', ')} cannot be reached): using what is cached`);
    const cached = await this.#run(errand, order, uv, [...WHEELS_ONLY, '--offline']);
    if (cached.status === 0) return;
    const impatient = { ...uv, env: { ...uv.env, UV_HTTP_RETRIES: '0' } };
    const end = await this.#run(errand, order, impatient, WHEELS_ONLY);
    if (end.status !== 0) throw unreachable(order.attempt, silent, cached);
  }

  /** Files are shared with the cache by hard links where the file system can. */
  #run(errand: Errand, { verb, args, stdin }: UvOrder, uv: Circumstances, more: string[]): Promise<ToolEnd> {
    const places = ['--cache-dir', this.#cache, '--link-mode', 'hardlink', ...linksOf(uv.findLinks, uv)];
    return errand.run({
      python: this.settings.python,
      command: this.tool.path,
      args: ['pip', verb, '--no-progress', ...places, ...more, ...args],
      env: uv.env,
      stdin,
    });
  }

  async #build(
    errand: Errand,
    { verb, args, stdin, python, fills }: UvOrder,
    uv: Circumstances,
  ): Promise<ToolEnd> {
    const folders = uv.findLinks.filter((place) => !isAddress(place));
    const constraints = uv.env['UV_CONSTRAINT']?.split(' ') ?? [];
    const jail = await buildJailFor({
      base: this.settings.base,
      python,
      writable: fills,
      readable: [...folders, ...constraints],
      indexes: uv.indexes,
      env: uv.env,
    });
    return errand.run(
      {
        python: this.settings.python,
        command: this.tool.path,
        args: ['pip', verb, '--no-progress', ...linksOf(folders, uv), ...args],
        env: inJail(uv.env),
        stdin,
      },
      jail,
    );
  }

  #env(): Record<string, string> {
    return { ...toolEnvironment(this.settings.env), UV_PYTHON_DOWNLOADS: 'never', UV_NO_WRAP: '1' };
  }

  async #uvSettings(errand: Errand, { verb }: UvOrder): Promise<Circumstances> {
    const now = performance.now();
    if (this.#recent === undefined || now - this.#recent.at > RECENT_MS) {
      this.#recent = { at: now, circumstances: this.#look(errand) };
      this.#recent.circumstances.catch(() => {
        this.#recent = undefined;
      });
    }
    // Whoever began to look may have been cancelled meanwhile; that is no reason for others to fail.
    const { env, ...rest } = await this.#recent.circumstances.catch(() => this.#look(errand));
    const kept = Object.entries(env).filter(([name]) => verb !== 'install' || !WISHES.includes(name));
    return { ...rest, env: Object.fromEntries(kept) };
  }

  async #look(errand: Errand): Promise<Circumstances> {
    const env = this.#env();
    const pip = await readPipSettings(this.settings.python, env, errand.signal);
    const settings = uvSettings(env, pip, await readUvConfiguration(env));
    const indexes = settings.noIndex ? [] : await this.#indexes(errand, settings.env);
    return { ...settings, indexes };
  }

  /** uv itself says which indexes its settings come to. */
  async #indexes(errand: Errand, env: Record<string, string>): Promise<string[]> {
    const { python } = this.settings;
    const args = [
      'pip',
      'compile',
      '-',
      '--python',
      python,
      '--offline',
      '--quiet',
      '--no-header',
      '--emit-index-url',
    ];
    const end = await errand.run({ python, command: this.tool.path, args, env, stdin: '' });
    return [...end.stdout.matchAll(/^--(?:extra-)?index-url (\S+)$/gm)].map(([, address]) => address!);
  }
}

/** Stops an installation that unpacks to more than an environment may be. */
function watchGrowth(
  before: CacheSnapshot,
  maxMb: number | undefined,
  stop: (why: PungiError) => void,
): NodeJS.Timeout | undefined {
  if (maxMb === undefined) return undefined;
  const limit = maxMb * 1024 * 1024;
  return setInterval(async () => {
    if ((await before.grownBy(limit)) <= limit) return;
    stop(
      new PungiError(
        'PACKAGE_INSTALLATION_ERROR',
        `The packages unpack to more than ${maxMb} MB, which is all that an environment may have (MAX_ENVIRONMENT_MB).`,
      ),
    );
  }, LOOK_EVERY_MS);
}

const linksOf = (places: string[], { noIndex }: UvSettings): string[] => [
  ...(noIndex ? ['--no-index'] : []),
  ...places.map((place) => `--find-links=${place}`),
];
