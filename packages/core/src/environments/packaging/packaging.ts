import { PungiError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { StepOptions } from '../../contract/environment.js';
import { findUv, OWN_UV_VERSION, ownUv, ownUvPath, wheelForMachine } from './find-uv.js';
import { cancelled, type PackagerSettings, type Uv, type UvWheel } from './packager.js';
import type { UvPackager } from './uv-packager.js';

const REMEDY = 'Install uv, or name it with PUNGI_UV.';

interface PackagingSettings {
  base: string;
  python: () => Promise<string>;
  /** A path (PUNGI_UV). */
  uv?: string | undefined;
  uvWheel?: UvWheel;
  env?: NodeJS.ProcessEnv;
  /** The limit for unpacked packages, in MB. */
  maxMb?: number;
  /** Aborted at shutdown. */
  closing?: AbortSignal;
}

/** Provides the uv that installs packages: an existing one, else one that is fetched once. */
export class Packaging {
  readonly #settings: PackagingSettings;
  readonly #logger: Logger;
  readonly #listeners = new Set<(step: string) => void>();
  #chosen: Promise<UvPackager> | undefined;
  /** The current step, for callers that join. */
  #step: string | undefined;

  constructor(settings: PackagingSettings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
  }

  /** Chosen once, at the first call. A cancelled caller does not affect others. */
  async packager({ signal, onStep }: StepOptions = {}): Promise<UvPackager> {
    if (signal?.aborted) throw cancelled(signal.reason);
    if (onStep) this.#listeners.add(onStep);
    if (this.#step !== undefined) onStep?.(this.#step);
    let abort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(cancelled(signal?.reason));
    });
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await Promise.race([this.#choose(), aborted]);
    } finally {
      signal?.removeEventListener('abort', abort);
      if (onStep) this.#listeners.delete(onStep);
    }
  }

  /** Returns the uv that would be used, without fetching it. */
  async look(): Promise<{ uv: Uv | null; note: string }> {
    const settings = await this.#packagerSettings();
    const found = await findUv(settings, this.#settings.uv).catch((error) => PungiError.from(error));
    if (found instanceof PungiError) return { uv: null, note: found.message };
    if (found.uv) return { uv: found.uv, note: found.notes.join(' ') };
    if ((settings.uvWheel ?? wheelForMachine()) === undefined)
      return { uv: null, note: [...found.notes, `uv was not found. ${REMEDY}`].join(' ') };
    const own: Uv = { version: OWN_UV_VERSION, path: ownUvPath(settings.base), origin: 'own' };
    const note = `uv ${OWN_UV_VERSION} will be fetched once, when packages are first needed.`;
    return { uv: own, note: [...found.notes, note].join(' ') };
  }

  /** Resolves when no choice is in progress. */
  async settled(): Promise<void> {
    await this.#chosen?.catch(() => {});
  }

  #choose(): Promise<UvPackager> {
    if (this.#chosen === undefined) {
      const chosen = this.#decide();
      this.#chosen = chosen;
      chosen.catch(() => {
        this.#chosen = undefined;
      });
    }
    return this.#chosen;
  }

  async #decide(): Promise<UvPackager> {
    // Imported lazily: a server that installs nothing starts faster.
    const settings = await this.#packagerSettings();
    let { uv, notes } = await findUv(settings, this.#settings.uv);
    for (const note of notes) this.#logger.info(note);
    if (uv === undefined) {
      try {
        this.#report(`Fetching uv ${OWN_UV_VERSION} once, which installs packages`);
        await (await import('./fetch-tool.js')).fetchTool(settings, ownUv(settings));
        ({ uv, notes } = await findUv(settings, this.#settings.uv));
      } catch (error) {
        settings.closing?.throwIfAborted();
        const { code, message } = PungiError.from(error);
        if (code === 'CONFIGURATION_ERROR') throw error;
        notes.push(message);
      } finally {
        this.#step = undefined;
      }
    }
    if (uv === undefined)
      throw new PungiError('TOOL_UNAVAILABLE', ['uv was not found.', ...notes, REMEDY].join(' '));
    return new (await import('./uv-packager.js')).UvPackager(uv, settings);
  }

  #report(step: string): void {
    this.#step = step;
    for (const listener of this.#listeners) listener(step);
  }

  async #packagerSettings(): Promise<PackagerSettings> {
    const { base, python, env = process.env, maxMb, uvWheel, closing } = this.#settings;
    return { base, python: await python(), env, maxMb, uvWheel, closing };
  }
}
