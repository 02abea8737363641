import { dirname, resolve } from 'node:path';
import type { TestSpecification, ValidationScript } from '../../contract/spec.js';
import type { SpecFault, SpecPath } from './fault.js';
import { readBounded, type Source } from './source.js';
import { didYouMean, meant } from './suggest.js';

/** A validation script, read. */
export interface PlannedScript extends Omit<ValidationScript, 'file' | 'source'> {
  source: string;
  /** Where it is from, if it has a file of its own. */
  file?: string;
}

/** The scripts that tests name, and those that they bring along. */
export class Scripts {
  readonly faults: SpecFault[] = [];
  readonly files: string[] = [];
  readonly #named = new Map<string, PlannedScript>();
  /** Also of those that cannot be used: whoever names them is not wrong. */
  readonly #names: Set<string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
  }

  addAll(source: Source, { validation_scripts, script_config }: TestSpecification): void {
    for (const [index, script] of validation_scripts.entries())
      this.#add(source, ['validation_scripts', index], script);
    for (const [index, script] of (script_config?.scripts ?? []).entries())
      this.#add(source, ['script_config', 'scripts', index], script);
  }

  #add(source: Source, at: SpecPath, script: ValidationScript): void {
    if (this.#named.has(script.name)) {
      this.faults.push(source.fault([...at, 'name'], `is the name of another script: "${script.name}"`));
      return;
    }
    const read = this.read(source, at, script);
    if (read !== undefined) this.#named.set(script.name, read);
  }

  read(
    source: Source,
    at: SpecPath,
    { file, source: text, ...rest }: ValidationScript,
  ): PlannedScript | undefined {
    if (file === undefined) return { ...rest, source: text! };
    const path = resolve(dirname(source.file), file);
    this.files.push(path);
    const found = readBounded(path);
    if ('text' in found) return { ...rest, source: found.text, file: path };
    this.faults.push(source.fault([...at, 'file'], `names ${file}, which cannot be read: ${found.problem}`));
    return undefined;
  }

  get(name: string, source: Source, at: SpecPath): PlannedScript | undefined {
    if (!this.#names.has(name)) {
      const known = [...this.#names];
      const all =
        known.length === 0 ? 'there are none: add it to validation_scripts' : `there are ${known.join(', ')}`;
      const suggestion = didYouMean(meant(name, known)) ?? all;
      this.faults.push(
        source.fault(at, `names a validation script that there is not: "${name}"`, { suggestion }),
      );
    }
    return this.#named.get(name);
  }
}
