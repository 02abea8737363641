import { checkObject, checkText } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import { BytecodeCache } from '../engine/bytecode-cache.js';
import type { Engine } from '../engine/engine.js';
import type { EnvironmentRef } from '../engine/environment-ref.js';
import type { Gate } from '../gate/gate.js';

/** A compiled script. Its runs skip the compiler. */
export interface CompiledScript {
  readonly sha256: string;
  readonly filename: string;
  readonly code: string;
}

/** Returns the script of an earlier `precompile`. Throws INVALID_INPUT if it is not one, or was changed. */
export function readCompiled(script: CompiledScript): CompiledScript {
  checkObject('script', script);
  for (const name of ['sha256', 'filename', 'code'] as const) checkText(`script.${name}`, script[name]);
  if (sha256(script.code) === script.sha256) return script;
  const issue = 'script: its code was changed since it was compiled; compile it again';
  throw new PungiError('INVALID_INPUT', `Invalid arguments: ${issue}.`, { issues: [issue] });
}

/** Compiles scripts in the sandbox, once per environment. */
export class Precompiler {
  readonly #cache: BytecodeCache;

  constructor(
    private readonly engine: Engine,
    private readonly gate: Gate,
    folder: string,
  ) {
    this.#cache = new BytecodeCache(folder);
  }

  async bytecodeOf({ code, filename }: CompiledScript, ref: EnvironmentRef | undefined): Promise<string> {
    await this.engine.started;
    const keyFor = (interpreter: string) => ({ sourceSha256: sha256(code), filename, interpreter });
    // Bytecode is not shared between environments, because packages of an environment may manipulate its compiler.
    const own = ref === undefined ? '' : `-${ref.environment}-${ref.generation}`;
    const tag = this.engine.bytecodeTag(ref);
    const known = tag === undefined ? undefined : this.#cache.get(keyFor(tag + own));
    if (known !== undefined) return known;
    const { job } = await this.gate.admitOwn({ code, filename });
    const compiled = await this.engine.compile(job, ref);
    if ('exception' in compiled) {
      const { type, message } = compiled.exception;
      throw new PungiError('PYTHON_ERROR', `${type}: ${message}`, { exception: compiled.exception });
    }
    this.#cache.set(keyFor(compiled.tag + own), compiled.bytecode);
    return compiled.bytecode;
  }
}
