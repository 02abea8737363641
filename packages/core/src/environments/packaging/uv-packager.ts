import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import type { ToolEnd } from '../../sandbox/tool.js';
import { sweepCache } from '../store/venv-tree.js';
import { buildJailFor, inJail, removeAbandonedBuilds } from './build-jail.js';
import { findUnreachable } from './index-reach.js';
import type {
  Forget,
  PackagerSettings,
  PackagingOptions,
  Pin,
  ResolveRequest,
  Target,
  Uv,
} from './packager.js';
import { checkRequirements, parsePins, renderPins } from './pins.js';
import { type Attempt, failure, listed, PackagingTask, unreachable } from './task.js';
import { toolEnvironment, withTemporaryFolder } from './tool-environment.js';
import { CacheSnapshot } from './uv-cache.js';
import {
  isAddress,
  readPipSettings,
  readUvConfiguration,
  type UvSettings,
  uvSettings,
} from './uv-settings.js';

/** A `uv pip` command that needs packages. */
interface UvCommand {
  verb: 'compile' | 'install';
  args: string[];
  stdin: string;
  /** The machine's interpreter that packages are for. */
  python: string;
  /** Folders that it reads or writes. */
  fills: string[];
  attempt: Attempt;
}

/** The settings in force, cached for a moment. */
interface UvContext extends UvSettings {
  /** Addresses of indexes, the default one first. */
  indexes: string[];
}

/** A resolution is followed by an installation: the settings are read once for both. */
const RECENT_MS = 5000;
const CLEANING_MS = 60_000;
const LOOK_EVERY_MS = 300;
const WHEELS_ONLY = ['--only-binary', ':all:'];
/** Given explicitly, so that no setting of the user's uv changes the format of the output. */
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
/** Variables that influence the choice of versions. They do not apply to pinned versions. */
const RESOLVER_VARIABLES = ['UV_CONSTRAINT', 'UV_OVERRIDE', 'UV_EXCLUDE'];

/** Chooses versions of packages and installs them. It runs no code of packages, except for builds in their jail. */
export class UvPackager {
  readonly uv: Uv;
  readonly #settings: PackagerSettings;
  readonly #cache: string;
  #recent: { at: number; context: Promise<UvContext> } | undefined;

  /** Packages that a resolution added to the cache, which happens if the index has no separate metadata. */
  readonly #fresh = new Set<string>();

  constructor(uv: Uv, settings: PackagerSettings) {
    this.uv = uv;
    this.#settings = settings;
    this.#cache = join(settings.base, '.cache', 'uv');
  }

  /** Resolves the requirements with all dependencies. */
  async resolve({ python, requirements, known }: ResolveRequest, options: PackagingOptions): Promise<Pin[]> {
    checkRequirements(requirements);
    const task = new PackagingTask(`Resolving ${listed(requirements)}`, options);
    return withTemporaryFolder('resolve', async (folder) => {
      // uv prefers the versions that the output file already contains.
      const answer = join(folder, 'pins.txt');
      await writeFile(answer, renderPins(known.filter(({ url }) => url === undefined)));
      await this.#bounded(options, [], task, {
        verb: 'compile',
        args: ['-', '--python', python, '--output-file', answer, ...ANSWER],
        stdin: `${requirements.join('\n')}\n`,
        python,
        fills: [folder],
        attempt: { uv: this.uv, goal: 'resolved', asked: requirements, sources: options.sources },
      });
      return parsePins(await readFile(answer, 'utf8'));
    });
  }

  /**
   * Installs exactly these pins with their hashes. After an error the environment may be incomplete: the caller
   * discards it.
   */
  async installPinned({ python, venv }: Target, pins: Pin[], options: PackagingOptions): Promise<Forget> {
    const stdin = renderPins(pins);
    const asked = pins.map(({ name }) => name);
    const task = new PackagingTask(`Installing ${listed(asked)}`, options);
    return this.#bounded(options, asked, task, {
      verb: 'install',
      // Never the environment's own interpreter: it would run the .pth files of packages, outside of any sandbox.
      args: ['--python', python, '--prefix', venv, ...PINNED],
      stdin,
      python,
      fills: [venv],
      attempt: { uv: this.uv, goal: 'installed', asked, sources: options.sources },
    });
  }

  /** Removes unused entries from the cache. */
  async prune(options: PackagingOptions): Promise<void> {
    const task = new PackagingTask('Pruning the cache', options);
    const { python, base } = this.#settings;
    const args = ['cache', 'prune', '--cache-dir', this.#cache, '--no-progress'];
    const end = await task.run({ python, command: this.uv.path, args, env: this.#env() });
    const attempt: Attempt = {
      uv: this.uv,
      goal: 'pruned',
      asked: ['The cache'],
      sources: options.sources,
    };
    if (end.status !== 0) throw failure(attempt, end);
    await removeAbandonedBuilds(base);
  }

  /**
   * Removes a rejected installation from the cache, and stops one that unpacks too much. Returns a function that
   * removes it from the cache if it is rejected later.
   */
  async #bounded(
    options: PackagingOptions,
    names: string[],
    task: PackagingTask,
    command: UvCommand,
  ): Promise<Forget> {
    const before = await CacheSnapshot.take(this.#cache);
    const forget = async () => this.#forget(await before.newPackages(), names, options);
    const watch = watchGrowth(before, this.#settings.maxMb, (why) => task.stop(why));
    try {
      await this.#seek(task, command);
      if (command.verb === 'compile') for (const name of await before.newPackages()) this.#fresh.add(name);
      return forget;
    } catch (error) {
      await forget();
      throw error;
    } finally {
      clearInterval(watch);
    }
  }

  /** A cancelled caller does not wait for it, and entries that cannot be removed are pruned later. */
  async #forget(added: string[], names: string[], { sources }: PackagingOptions): Promise<void> {
    const wanted = new Set([...added, ...names.filter((name) => this.#fresh.delete(name))]);
    const { python } = this.#settings;
    const task = new PackagingTask('Cleaning the cache', { sources, timeoutMs: CLEANING_MS });
    const places = ['--cache-dir', this.#cache, '--no-progress'];
    const args = ['cache', 'clean', ...wanted, ...places];
    try {
      if (wanted.size > 0) await task.run({ python, command: this.uv.path, args, env: this.#env() });
      await sweepCache(python, this.#cache);
    } catch {
      // Another uv holds the cache for longer.
    }
  }

  async #seek(task: PackagingTask, command: UvCommand): Promise<void> {
    const { findLinks: places, ...settings } = await this.#uvSettings(task, command);
    const { wheels } = task.options;
    const context = { ...settings, findLinks: wheels === undefined ? places : [...places, wheels] };
    const addresses = [...context.indexes, ...context.findLinks.filter(isAddress)];
    const silent = context.env['UV_OFFLINE'] ? [] : await findUnreachable(addresses, context.env);
    if (silent.length > 0) return this.#seekInCache(task, command, context, silent);
    const end = await this.#run(task, command, context, WHEELS_ONLY);
    if (end.status === 0) return;
    if (!task.options.sources.includes('sdist')) throw failure(command.attempt, end);
    task.report('Wheels do not suffice: building from source, in a sandbox');
    const built = await this.#build(task, command, context);
    if (built.status !== 0) throw failure(command.attempt, built);
  }

  /** Waiting for an unreachable index takes long, so the cache is tried first. */
  async #seekInCache(
    task: PackagingTask,
    command: UvCommand,
    context: UvContext,
    silent: string[],
  ): Promise<void> {
    task.report(`No network (${silent.join(', ')} cannot be reached): using what is cached`);
    const cached = await this.#run(task, command, context, [...WHEELS_ONLY, '--offline']);
    if (cached.status === 0) return;
    const impatient = { ...context, env: { ...context.env, UV_HTTP_RETRIES: '0' } };
    const end = await this.#run(task, command, impatient, WHEELS_ONLY);
    if (end.status !== 0) throw unreachable(command.attempt, silent, cached);
  }

  /** Files are shared with the cache by hard links if the file system supports them. */
  #run(
    task: PackagingTask,
    { verb, args, stdin }: UvCommand,
    context: UvContext,
    more: string[],
  ): Promise<ToolEnd> {
    const places = [
      '--cache-dir',
      this.#cache,
      '--link-mode',
      'hardlink',
      ...linksOf(context.findLinks, context),
    ];
    return task.run({
      python: this.#settings.python,
      command: this.uv.path,
      args: ['pip', verb, '--no-progress', ...places, ...more, ...args],
      env: context.env,
      stdin,
    });
  }

  async #build(
    task: PackagingTask,
    { verb, args, stdin, python, fills }: UvCommand,
    context: UvContext,
  ): Promise<ToolEnd> {
    const folders = context.findLinks.filter((place) => !isAddress(place));
    const constraints = context.env['UV_CONSTRAINT']?.split(' ') ?? [];
    const jail = await buildJailFor({
      base: this.#settings.base,
      python,
      writable: fills,
      readable: [...folders, ...constraints],
      indexes: context.indexes,
      env: context.env,
    });
    return task.run(
      {
        python: this.#settings.python,
        command: this.uv.path,
        args: ['pip', verb, '--no-progress', ...linksOf(folders, context), ...args],
        env: inJail(context.env),
        stdin,
      },
      jail,
    );
  }

  #env(): Record<string, string> {
    return { ...toolEnvironment(this.#settings.env), UV_PYTHON_DOWNLOADS: 'never', UV_NO_WRAP: '1' };
  }

  async #uvSettings(task: PackagingTask, { verb }: UvCommand): Promise<UvContext> {
    const now = performance.now();
    if (this.#recent === undefined || now - this.#recent.at > RECENT_MS) {
      this.#recent = { at: now, context: this.#look(task) };
      this.#recent.context.catch(() => {
        this.#recent = undefined;
      });
    }
    // The caller that began to read the settings may have been cancelled; others must not fail for that.
    const { env, ...rest } = await this.#recent.context.catch(() => this.#look(task));
    const kept = Object.entries(env).filter(
      ([name]) => verb !== 'install' || !RESOLVER_VARIABLES.includes(name),
    );
    return { ...rest, env: Object.fromEntries(kept) };
  }

  async #look(task: PackagingTask): Promise<UvContext> {
    const env = this.#env();
    const pip = await readPipSettings(this.#settings.python, env, task.signal);
    const settings = uvSettings(env, pip, await readUvConfiguration(env));
    const indexes = settings.noIndex ? [] : await this.#indexes(task, settings.env);
    return { ...settings, indexes };
  }

  /** uv itself reports the indexes that result from its settings. */
  async #indexes(task: PackagingTask, env: Record<string, string>): Promise<string[]> {
    const { python } = this.#settings;
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
    const end = await task.run({ python, command: this.uv.path, args, env, stdin: '' });
    return [...end.stdout.matchAll(/^--(?:extra-)?index-url (\S+)$/gm)].map(([, address]) => address!);
  }
}

/** Stops an installation that unpacks to more than the limit of an environment. */
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
