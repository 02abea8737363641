import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import { type Interpreter, listInterpreters } from '../sandbox/interpreter.js';
import type { DownloadedPythons } from './downloaded-python.js';
import { choosePython, type WantedPython } from './requirements/python-versions.js';

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
