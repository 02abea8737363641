import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PungiError } from '../../base/errors.js';
import type { ToolEnd } from '../../sandbox/tool.js';
import { buildJailFor, inJail, removeAbandonedBuilds } from './build-jail.js';
import { Errand, listed } from './errand.js';
import { failure, unreachable } from './failure.js';
import { findUnreachable } from './index-reach.js';
import type { Forget, PackagingOptions, Pin, Target, Wish } from './packager.js';
import { type PipReport, pinsOfReport, renderPins } from './pins.js';
import { indexesOfPip, pipEnvironment } from './pip-environment.js';
import { readPipSettings } from './pip-settings.js';
import { checkRequirements } from './requirement-text.js';
import { withTemporaryFolder } from './temporary-folder.js';
import { toolEnvironment } from './tool-environment.js';
import { type Order, ToolPackager } from './tool-packager.js';

interface PipOrder extends Order {
  requirements: string[];
  /** Files of this machine that it installs. */
  files: string[];
  env: Record<string, string>;
}

/** What the interpreter has does not count: it may go. */
const PINNED = ['--ignore-installed', '--no-compile', '--no-deps', '--require-hashes'];
const WHEELS_ONLY = ['--only-binary', ':all:'];

/** The interpreter's own pip, for where there is no uv. It works in a jail, and so without a cache. */
export class PipPackager extends ToolPackager {
  async resolve({ python, requirements, known }: Wish, options: PackagingOptions): Promise<Pin[]> {
    checkRequirements(requirements);
    const files = filesIn(requirements);
    const errand = new Errand(`Resolving ${listed(requirements)}`, options);
    errand.tell(`Resolving ${listed(requirements)} with pip`);
    const env = await this.#env(errand);
    return withTemporaryFolder('resolve', async (folder) => {
      const order: PipOrder = {
        args: ['install', '--quiet', '--dry-run', '--ignore-installed', '--report', '-'],
        requirements,
        python,
        fills: [folder],
        files,
        env,
        attempt: { tool: this.tool, goal: 'resolved', asked: requirements, sources: options.sources },
      };
      const { stdout } =
        (await this.#keeping(known, folder, errand, order)) ?? (await this.#seek(errand, order));
      return pinsOfReport(JSON.parse(stdout) as PipReport);
    });
  }

  async installPinned({ python, venv }: Target, pins: Pin[], options: PackagingOptions): Promise<Forget> {
    const text = renderPins(pins);
    const asked = pins.map(({ name }) => name);
    const errand = new Errand(`Installing ${listed(asked)}`, options);
    errand.tell(`Installing ${listed(asked)} with pip`);
    // Constraints are about versions that are not chosen yet.
    const { PIP_CONSTRAINT: _, ...env } = await this.#env(errand);
    const site = await siteOf(venv);
    await withTemporaryFolder('pins', async (folder) => {
      const file = join(folder, 'pins.txt');
      await writeFile(file, text);
      await this.#seek(errand, {
        // Into a folder: the environment's own interpreter would run the .pth files of packages, outside of any sandbox.
        args: ['install', ...PINNED, '--target', site, '-r', file],
        requirements: [],
        python,
        fills: [venv, folder],
        files: filesIn(pins.flatMap(({ url }) => url ?? [])),
        env,
        attempt: { tool: this.tool, goal: 'installed', asked, sources: options.sources },
      });
    });
    await placeScripts(site, venv);
    // Its cache is the jail's own, and gone already.
    return async () => {};
  }

  /** Nothing shares files with pip's cache, so all of it is unused. */
  async prune(): Promise<void> {
    await rm(join(this.settings.base, '.cache', 'pip'), { recursive: true, force: true });
    await removeAbandonedBuilds(this.settings.base);
  }

  /** pip knows no preferences: all of what is known is kept, or the choice is free. */
  async #keeping(
    known: readonly Pin[],
    folder: string,
    errand: Errand,
    order: PipOrder,
  ): Promise<ToolEnd | undefined> {
    if (known.length === 0) return undefined;
    const file = join(folder, 'known.txt');
    const lines = known
      .filter(({ url }) => url === undefined)
      .map(({ name, version }) => `${name}==${version}\n`);
    await writeFile(file, lines.join(''));
    const end = await this.#run(errand, order, [...WHEELS_ONLY, '--constraint', file]);
    return end.status === 0 ? end : undefined;
  }

  async #seek(errand: Errand, order: PipOrder): Promise<ToolEnd> {
    const end = await this.#run(errand, order, WHEELS_ONLY);
    if (end.status === 0) return end;
    const silent = await findUnreachable(await this.#indexes(errand, order.env), order.env);
    if (silent.length > 0) throw unreachable(order.attempt, silent, end);
    if (!errand.options.sources.includes('sdist')) throw failure(order.attempt, end);
    errand.tell('Wheels do not suffice: building from source, in a sandbox');
    const built = await this.#run(errand, order, []);
    if (built.status !== 0) throw failure(order.attempt, built);
    return built;
  }

  /**
   * Always in the jail: pip builds what a package names by its address, whatever it is told about wheels, and building runs
   * code of strangers.
   */
  async #run(
    errand: Errand,
    { args, requirements, env, python, fills, files }: PipOrder,
    more: string[],
  ): Promise<ToolEnd> {
    const places = [env['PIP_FIND_LINKS'], env['PIP_CONSTRAINT']].flatMap((list) => list?.split(' ') ?? []);
    const jail = await buildJailFor({
      base: this.settings.base,
      python,
      writable: fills,
      readable: [...places, ...files],
      indexes: await this.#indexes(errand, env),
      env,
    });
    const command = this.settings.python;
    const pip = ['-I', '-m', 'pip', '--python', python, ...args, ...more, '--', ...requirements];
    return errand.run({ python: command, command, args: pip, env: inJail(env) }, jail);
  }

  #indexes(errand: Errand, env: Record<string, string>): Promise<string[]> {
    return indexesOfPip(this.settings.python, env, (command) => errand.run(command));
  }

  async #env({ signal }: Errand): Promise<Record<string, string>> {
    const env = toolEnvironment(this.settings.env);
    return pipEnvironment(env, await readPipSettings(this.settings.python, env, signal));
  }
}

/** The files that are named by their address. Others cannot be had: the jail has no network but the indexes. */
function filesIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    const [address] = /\b[a-z+]+:\/\/\S*/.exec(text) ?? [];
    if (address === undefined) return [];
    if (address.startsWith('file:')) return [fileURLToPath(address)];
    throw new PungiError(
      'TOOL_UNAVAILABLE',
      `Only uv can install from an address, and pip is used here: ${text}.`,
    );
  });
}

async function siteOf(venv: string): Promise<string> {
  const [name = ''] = (await readdir(join(venv, 'lib'))).filter((entry) => entry.startsWith('python'));
  return join(venv, 'lib', name, 'site-packages');
}

/** pip puts the scripts of what it installs into a folder below that folder. */
async function placeScripts(site: string, venv: string): Promise<void> {
  const folder = join(site, 'bin');
  for (const name of await readdir(folder).catch(() => [] as string[])) {
    await rename(join(folder, name), join(venv, 'bin', name));
  }
  await rm(folder, { recursive: true, force: true });
}
