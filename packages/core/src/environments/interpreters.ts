import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import { findInterpreter, type Interpreter, listInterpreters } from '../sandbox/interpreter.js';
import { runTool } from '../sandbox/tool.js';
import type { Packaging } from './packaging/packaging.js';
import { toolEnvironment } from './packaging/tool-environment.js';
import { choosePython, type WantedPython } from './requirements/versions.js';

/** The interpreters for environments. */
export class Interpreters {
  constructor(
    private readonly own: () => Promise<Interpreter>,
    private readonly downloaded: DownloadedPythons,
    private readonly timeoutMs: number,
    /** Aborted at shutdown. */
    private readonly closing: AbortSignal,
  ) {}

  /** Returns the default interpreter if it fits, else the newest that does, else one that uv downloads. */
  async find(wanted: WantedPython, options: StepOptions): Promise<Interpreter> {
    const own = choosePython([await this.own()], wanted);
    if (own) return own;
    const signal = options.signal ? AbortSignal.any([options.signal, this.closing]) : this.closing;
    const all = await listInterpreters({ signal });
    const more = { ...options, signal, timeoutMs: this.timeoutMs };
    const found = choosePython(all, wanted) ?? (await this.downloaded.provide(wanted, more));
    if (found) return found;
    const versions = [...new Set(all.map(({ version }) => version))];
    throw new PungiError(
      'INTERPRETER_NOT_FOUND',
      `No Python ${wanted.version ?? wanted.specifier} was found on this machine, and none could be downloaded; found are ${versions.join(', ')}.`,
      { wanted, found: versions },
    );
  }
}

interface DownloadOptions extends StepOptions {
  timeoutMs: number;
}

/** Python versions that this machine lacks and uv can download. */
export class DownloadedPythons {
  readonly #folder: string;

  constructor(
    base: string,
    private readonly packaging: Packaging,
    private readonly starter: () => Promise<string>,
  ) {
    this.#folder = join(base, '.tools', 'python');
  }

  /** Returns undefined if there is none and none can be downloaded. */
  async provide(wanted: WantedPython, options: DownloadOptions): Promise<Interpreter | undefined> {
    return choosePython(await this.#list(), wanted) ?? (await this.#download(wanted, options));
  }

  async #download(wanted: WantedPython, options: DownloadOptions): Promise<Interpreter | undefined> {
    const request = wanted.version ?? wanted.specifier;
    if (request === undefined) return undefined;
    const { uv } = await this.packaging.packager(options);
    options.onStep?.(`Downloading Python ${request} with uv.`);
    const env = { ...toolEnvironment(process.env), UV_PYTHON_INSTALL_BIN: '0', UV_HTTP_RETRIES: '1' };
    const args = ['python', 'install', '--no-progress', '--install-dir', this.#folder, '--', request];
    const { timeoutMs, signal } = options;
    const command = { python: await this.starter(), command: uv.path, args, env };
    const end = await runTool(command, { timeoutMs, ...(signal && { signal }) });
    return end.status === 0 ? choosePython(await this.#list(), wanted) : undefined;
  }

  async #list(): Promise<Interpreter[]> {
    const names = await readdir(this.#folder).catch(() => [] as string[]);
    const found = names
      .filter((name) => name.startsWith('cpython-'))
      .map((name) => findInterpreter(join(this.#folder, name, 'bin', 'python3')).catch(() => undefined));
    return (await Promise.all(found)).filter((one) => one !== undefined);
  }
}
