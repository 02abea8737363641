import { dirname, resolve } from 'node:path';
import type { TestSpecification, ValidationScript } from '@pungi/core/contract';
import {
  type Position,
  readText,
  type Source,
  type SpecFault,
  type SpecPath,
  specPathText,
} from './fault.js';
import { didYouMean, meant } from './schema.js';

/** A validation script whose source has been read. */
export interface PlannedScript extends Omit<ValidationScript, 'file' | 'source'> {
  source: string;
  /** The reason why it is skipped. */
  skip?: string;
  /** Its file, if it has one. */
  file?: string;
  /** The folder of its file or of the specification: modules in it can be imported. */
  folder?: string;
}

/** A script, and how to locate a fault in it: in its own file, or in the specification that contains it. */
export interface PlacedScript {
  script: PlannedScript;
  fault(place: Position | undefined, message: string): SpecFault;
}

/** The scripts that tests name, and those that tests contain. */
export class Scripts {
  readonly faults: SpecFault[] = [];
  readonly warnings: SpecFault[] = [];
  readonly files: string[] = [];
  /** All scripts that could be read. */
  readonly placed: PlacedScript[] = [];
  readonly #named = new Map<string, PlannedScript>();
  readonly #places = new Map<Source, [name: string, at: SpecPath][]>();
  /** Includes scripts that cannot be used: a test that names one is not at fault. */
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
      this.faults.push(
        source.fault([...at, 'name'], `is already the name of another script: "${script.name}"`),
      );
      return;
    }
    this.#places.set(source, [...(this.#places.get(source) ?? []), [script.name, at]]);
    const read = this.read(source, at, script);
    if (read !== undefined) this.#named.set(script.name, read);
  }

  read(
    source: Source,
    at: SpecPath,
    { file, source: text, ...rest }: ValidationScript,
  ): PlannedScript | undefined {
    if (rest.language !== 'python') {
      const skip = `it is written in "${rest.language}", and only Python scripts are run`;
      const message = `is "${rest.language}", so the script "${rest.name}" is skipped`;
      const suggestion = 'only Python scripts are run';
      this.warnings.push(source.fault([...at, 'language'], message, { suggestion }));
      return { ...rest, source: text ?? '', skip };
    }
    const folder = dirname(file === undefined ? source.file : resolve(dirname(source.file), file));
    if (file === undefined) return this.#place(source, [...at, 'source'], { ...rest, source: text!, folder });
    const path = resolve(dirname(source.file), file);
    this.files.push(path);
    const found = readText(path);
    if ('text' in found)
      return this.#place(source, [...at, 'file'], { ...rest, source: found.text, file: path, folder });
    this.faults.push(source.fault([...at, 'file'], `names ${file}, which cannot be read: ${found.problem}`));
    return undefined;
  }

  #place(source: Source, at: SpecPath, script: PlannedScript): PlannedScript {
    const fault: PlacedScript['fault'] = (place, message) => {
      if (place === undefined) return source.fault(at, message);
      if (script.file !== undefined)
        return { file: script.file, position: place, path: '', message: `the script ${message}` };
      const position = source.placeInText(at, place);
      return { file: source.file, position, path: specPathText(at), message };
    };
    this.placed.push({ script, fault });
    return script;
  }

  /**
   * Warns about scripts that no test names and that never run. Scripts of included files may be for others.
   */
  warnUnused(source: Source, used: ReadonlySet<string>): void {
    for (const [name, at] of this.#places.get(source) ?? [])
      if (!used.has(name))
        this.warnings.push(
          source.fault([...at, 'name'], `"${name}" is not used by any test, so the script never runs`),
        );
  }

  get(name: string, source: Source, at: SpecPath): PlannedScript | undefined {
    if (!this.#names.has(name)) {
      const known = [...this.#names];
      const all =
        known.length === 0
          ? 'there are no scripts: add it to validation_scripts'
          : `known scripts: ${known.join(', ')}`;
      const suggestion = didYouMean(meant(name, known)) ?? all;
      this.faults.push(source.fault(at, `names an unknown validation script: "${name}"`, { suggestion }));
    }
    return this.#named.get(name);
  }
}
