import { PungiError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { StepOptions } from '../../contract/environment.js';
import { cancelled } from './errand.js';
import { installOwnUv, OWN_UV_VERSION, ownUvPath } from './own-uv.js';
import type { Packager, PackagerSettings, PackagerTool } from './packager.js';
import { OLDEST_PIP, type Survey, surveyTools } from './survey.js';
import { isAtLeast } from './tool-version.js';

export interface PackagingSettings {
  base: string;
  python: () => Promise<string>;
  /** A path, or 'off' for pip. */
  uv?: string | undefined;
  env?: NodeJS.ProcessEnv;
  /** What packages may unpack to, in MB. */
  maxMb?: number;
  /** Aborted when everything ends. */
  closing?: AbortSignal;
}

/** Chooses what installs packages here: a uv that is there, else one that is installed once, else the interpreter's pip. */
export class Packaging {
  readonly #settings: PackagingSettings;
  readonly #logger: Logger;
  readonly #listeners = new Set<(step: string) => void>();
  #chosen: Promise<Packager> | undefined;
  /** What is being done, for who comes meanwhile. */
  #step: string | undefined;

  constructor(settings: PackagingSettings, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
  }

  /** Chosen once, at the first call. A caller that is cancelled leaves the others their choice. */
  async packager({ signal, onStep }: StepOptions = {}): Promise<Packager> {
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

  /** What would be chosen, without installing anything. */
  async look(): Promise<{ tool: PackagerTool | null; note: string }> {
    const settings = await this.#packagerSettings();
    const survey = await surveyTools(settings, this.#settings.uv).catch((error) => PungiError.from(error));
    if (survey instanceof PungiError) return { tool: null, note: survey.message };
    const notes = survey.notes.join(' ');
    if (survey.uv) return { tool: survey.uv, note: notes };
    if (survey.mayInstallUv) {
      const path = ownUvPath(settings.base);
      const note = `uv ${OWN_UV_VERSION} will be installed once, when packages are first needed.`;
      return {
        tool: { name: 'uv', version: OWN_UV_VERSION, path, origin: 'own' },
        note: [notes, note].filter((text) => text !== '').join(' '),
      };
    }
    return isUsable(survey.pip)
      ? { tool: survey.pip, note: notes }
      : { tool: null, note: nothing(survey).message };
  }

  /** Resolves when no choice is being made any more. */
  async settled(): Promise<void> {
    await this.#chosen?.catch(() => {});
  }

  #choose(): Promise<Packager> {
    if (this.#chosen === undefined) {
      const chosen = this.#decide();
      this.#chosen = chosen;
      chosen.catch(() => {
        this.#chosen = undefined;
      });
    }
    return this.#chosen;
  }

  async #decide(): Promise<Packager> {
    const settings = await this.#packagerSettings();
    let survey = await surveyTools(settings, this.#settings.uv);
    if (!survey.uv && survey.mayInstallUv) {
      try {
        this.#tell(`Installing uv ${OWN_UV_VERSION} once, which installs packages`);
        await installOwnUv(settings);
        survey = await surveyTools(settings, this.#settings.uv);
      } catch (error) {
        settings.closing?.throwIfAborted();
        const { message, details } = PungiError.from(error);
        this.#logger.error(message, { ...details });
        survey.notes.push(message);
      } finally {
        this.#step = undefined;
      }
    }
    for (const note of survey.notes) this.#logger.info(note);
    // Imported when they are needed: a server that installs nothing starts sooner without them.
    if (survey.uv) return new (await import('./uv-packager.js')).UvPackager(survey.uv, settings);
    if (isUsable(survey.pip))
      return new (await import('./pip-packager.js')).PipPackager(survey.pip, settings);
    throw nothing(survey);
  }

  #tell(step: string): void {
    this.#step = step;
    for (const listener of this.#listeners) listener(step);
  }

  async #packagerSettings(): Promise<PackagerSettings> {
    const { base, python, env = process.env, maxMb, closing } = this.#settings;
    return { base, python: await python(), env, maxMb, closing };
  }
}

const isUsable = (pip: PackagerTool | undefined): pip is PackagerTool =>
  pip !== undefined && isAtLeast(pip.version, OLDEST_PIP);

function nothing({ notes, pip, python }: Survey): PungiError {
  const why = pip
    ? `The pip of ${python} is ${pip.version}, too old`
    : `Neither uv nor a pip of ${python} was found`;
  const remedy = `Install uv, or name it with PUNGI_UV, or install pip ${OLDEST_PIP.join('.')} or newer for that interpreter.`;
  return new PungiError('TOOL_UNAVAILABLE', [...notes, `${why}.`, remedy].join(' '));
}
