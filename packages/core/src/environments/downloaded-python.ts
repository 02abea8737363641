import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StepOptions } from '../contract/environment.js';
import { findInterpreter, type Interpreter } from '../sandbox/interpreter.js';
import { runTool } from '../sandbox/tool.js';
import type { Packaging } from './packaging/packaging.js';
import { toolEnvironment } from './packaging/tool-environment.js';
import { choosePython, type WantedPython } from './requirements/python-versions.js';

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
