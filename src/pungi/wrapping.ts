import { realpath } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import type { AuditRecorder } from '../audit/recorder.js';
import { PungiError } from '../base/errors.js';
import type { Config } from '../config/schema.js';
import { type Caller, SELF } from '../contract/caller.js';
import { readScript } from '../gate/script-file.js';
import type { PythonSide } from '../wrap/discover/discover-script.js';
import {
  type ClientChoice,
  type ClientScript,
  unwrapFromFolder,
  type WrapChange,
  wrapIntoFolder,
} from '../wrap/tools-folder/client-scripts.js';
import type { WrappedScript } from '../wrap/tools-folder/wrapped-script.js';
import type { WrappedScripts } from '../wrap/tools-folder/wrapped-scripts.js';

/** Either the text of a script and a name for it, or a script below one of the script roots. */
export type WrapRequest = ClientChoice & ({ filename: string; code: string } | { file: string });

interface Parts {
  config: Config;
  side: PythonSide;
  wrapped: WrappedScripts;
  audit: AuditRecorder;
}

/** Changes what the server offers, as clients ask for it, and records that before they hear of it. */
export class Wrapping {
  constructor(private readonly parts: Parts) {}

  async wrap(request: WrapRequest, caller: Caller): Promise<WrappedScript> {
    const { wrapped, audit, side, config } = this.parts;
    const folder = this.#folder();
    await audit.ready();
    const script = 'file' in request ? await serverScript(request.file, config.scriptRoots) : request;
    const change = await wrapIntoFolder(folder, side, script, request);
    const { name, sha256, tools, replaced } = change;
    await this.#record(`wrap ${name}`, replaced ? { name } : null, { name, sha256, tools }, caller);
    await wrapped.look();
    return this.#found(change);
  }

  async unwrap(name: string, caller: Caller): Promise<void> {
    const { wrapped, audit } = this.parts;
    const folder = this.#folder();
    await audit.ready();
    await wrapped.look();
    const before = wrapped.scripts.find((script) => script.name === name);
    unwrapFromFolder(
      folder,
      name,
      wrapped.scripts.map((script) => script.name),
    );
    const { sha256 = null, tools = [] } = before?.inUse?.tools ?? {};
    await this.#record(
      `unwrap ${name}`,
      { name, sha256, tools: tools.map((tool) => tool.name) },
      null,
      caller,
    );
    await wrapped.look();
  }

  #folder(): string {
    const { folder } = this.parts.wrapped;
    if (folder !== null) return folder;
    throw new PungiError('DENIED', 'Nothing can be wrapped: this server has no tools folder (TOOLS_DIR).');
  }

  /** As it came out, with the names that its tools have beside all others. */
  #found({ name }: WrapChange): WrappedScript {
    const found = this.parts.wrapped.scripts.find((script) => script.name === name);
    if (found !== undefined) return found;
    throw new PungiError(
      'INVALID_INPUT',
      `"${name}" is in the tools folder, but was taken away or is one too many.`,
    );
  }

  async #record(change: string, before: Json, after: Json, caller: Caller): Promise<void> {
    try {
      await this.parts.audit.change(
        { change, before, after },
        { client: caller.client || SELF.client, token: caller.token },
      );
    } catch (error) {
      const { message } = PungiError.from(error);
      const words = `The tools folder was changed (${change}), but that could not be recorded: ${message}`;
      throw new PungiError('AUDIT_UNAVAILABLE', words, { change, changed: true }, error);
    }
  }
}

type Json = Parameters<AuditRecorder['change']>[0]['before'];

/** A file that execute_python_file may run, by its real path. */
async function serverScript(file: string, roots: string[]): Promise<ClientScript> {
  const places = isAbsolute(file) ? [file] : roots.map((root) => resolve(root, file));
  const found = await Promise.all(places.map((place) => realpath(place).catch(() => undefined)));
  const path = found.find((place) => place !== undefined) ?? file;
  return { path, code: await readScript(path, roots) };
}
