import { realpath } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { Pungi } from '@pungi/core';
import type { ConfigurationChange } from '@pungi/core/audit';
import { checkObject, checkOptions, checkText, PungiError } from '@pungi/core/base';
import { isServed, toolsFolder } from '@pungi/core/config';
import type { Caller, StepOptions } from '@pungi/core/contract';
import { readScript } from '@pungi/core/gate';
import {
  type ClientChoice,
  type ClientScript,
  unwrapFromFolder,
  type WrapChange,
  wrapIntoFolder,
} from './tools-folder/client-scripts.js';
import type { WrappedScript } from './tools-folder/wrapped-script.js';
import { type Pace, WrappedScripts } from './tools-folder/wrapped-scripts.js';

/** Either the text of a script and a name for it, or a script below one of the script roots. */
export type WrapRequest = ClientChoice & ({ filename: string; code: string } | { file: string });

/** The tools folder of a server: what it offers, and the changes that clients make to it, each recorded before it is confirmed. */
export class Wrapping {
  readonly scripts: WrappedScripts;

  constructor(
    private readonly pungi: Pungi,
    pace: Pace = {},
  ) {
    const { config, logger } = pungi;
    const isWanted = config.toolsDir !== undefined || config.wrapTools;
    const folder = isServed(config, 'wrap') ? toolsFolder(config) : null;
    this.scripts = new WrappedScripts(folder, pungi, logger, isWanted, pace);
  }

  /** Puts a script into the tools folder, so that its tools are offered. */
  async wrap(request: WrapRequest, options: StepOptions = {}): Promise<WrappedScript> {
    checkObject('request', request);
    for (const name of 'file' in request ? ['file'] : ['filename', 'code'])
      checkText(name, (request as unknown as Record<string, unknown>)[name]);
    checkOptions(options);
    const { scripts, pungi } = this;
    const folder = this.#folder();
    await pungi.auditReady();
    const script = 'file' in request ? await serverScript(request.file, pungi.config.scriptRoots) : request;
    const change = await wrapIntoFolder(folder, pungi, script, request);
    const { name, sha256, tools, replaced } = change;
    const before = replaced ? { name } : null;
    await this.#record({ change: `wrap ${name}`, before, after: { name, sha256, tools } }, options.caller);
    await scripts.look();
    return this.#found(change);
  }

  /** Takes a script out of the tools folder; one that lies elsewhere stays there. */
  async unwrap(name: string, options: StepOptions = {}): Promise<void> {
    checkText('name', name);
    checkOptions(options);
    const { scripts, pungi } = this;
    const folder = this.#folder();
    await pungi.auditReady();
    await scripts.look();
    const known = scripts.scripts.map((script) => script.name);
    const { sha256 = null, tools = [] } =
      scripts.scripts.find((script) => script.name === name)?.inUse?.tools ?? {};
    unwrapFromFolder(folder, name, known);
    const before = { name, sha256, tools: tools.map((tool) => tool.name) };
    await this.#record({ change: `unwrap ${name}`, before, after: null }, options.caller);
    await scripts.look();
  }

  close(): Promise<void> {
    return this.scripts.close();
  }

  #folder(): string {
    const { folder } = this.scripts;
    if (folder !== null) return folder;
    throw new PungiError('DENIED', 'Nothing can be wrapped: this server has no tools folder (TOOLS_DIR).');
  }

  /** As it came out, with the names that its tools have beside all others. */
  #found({ name }: WrapChange): WrappedScript {
    const found = this.scripts.scripts.find((script) => script.name === name);
    if (found !== undefined) return found;
    throw new PungiError(
      'INVALID_INPUT',
      `"${name}" is in the tools folder, but was taken away or is one too many.`,
    );
  }

  async #record(change: ConfigurationChange, caller: Partial<Caller> | undefined): Promise<void> {
    try {
      await this.pungi.recordChange(change, caller);
    } catch (error) {
      const { message } = PungiError.from(error);
      const words = `The tools folder was changed (${change.change}), but that could not be recorded: ${message}`;
      throw new PungiError('AUDIT_UNAVAILABLE', words, { change: change.change, changed: true }, error);
    }
  }
}

/** A file that execute_python_file may run, by its real path. */
async function serverScript(file: string, roots: string[]): Promise<ClientScript> {
  const places = isAbsolute(file) ? [file] : roots.map((root) => resolve(root, file));
  const found = await Promise.all(places.map((place) => realpath(place).catch(() => undefined)));
  const path = found.find((place) => place !== undefined) ?? file;
  const { code } = await readScript(path, roots);
  return { path, code };
}
