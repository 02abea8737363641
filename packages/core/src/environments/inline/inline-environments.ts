import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { sha256 } from '../../base/sha256.js';
import type { StepOptions } from '../../contract/environment.js';
import type { Interpreter } from '../../sandbox/interpreter.js';
import type { Installer } from '../installer.js';
import type { Pin } from '../packaging/packager.js';
import type { Contents, NewEnvironment } from '../store/generations.js';
import type { Layout } from '../store/layout.js';
import { writeDurably } from '../store/metadata.js';

/** The metadata of a script's `# /// script` block. */
export interface InlineDependencies {
  dependencies: string[];
  requiresPython: string | null;
}

interface Maker {
  interpreterFor(specifier: string | undefined, options: StepOptions): Promise<Interpreter>;
  isWhole(name: string): Promise<boolean>;
  make(wanted: NewEnvironment, contents: Contents, options: StepOptions): Promise<void>;
}

/** The exact content of an environment. */
interface Filling {
  pins: readonly Pin[];
  requested: string[];
  interpreter: Interpreter;
  inherit: boolean;
  description: string;
}

const hash = (value: unknown) => sha256(JSON.stringify(value)).slice(0, 20);

/**
 * Environments for the inline metadata of scripts. Each is named by the result of its resolution, so that different
 * requests with the same result share it. The mapping from requests to environments is stored, so that only the first
 * run of a request is resolved.
 */
export class InlineEnvironments {
  constructor(
    private readonly layout: Layout,
    private readonly installer: Installer,
    private readonly maker: Maker,
  ) {}

  /** Returns the name of an existing environment. */
  async provide(
    { dependencies, requiresPython }: InlineDependencies,
    options: StepOptions,
    /** Awaited before anything is downloaded; rejects if that would be useless. */
    beforeMaking: () => Promise<void> = async () => {},
  ): Promise<string> {
    const asked = this.installer.parse(dependencies);
    const requested = asked.map(({ text }) => text).sort();
    const interpreter = await this.maker.interpreterFor(requiresPython ?? undefined, options);
    const { path, version } = interpreter;
    const note = join(this.layout.inline, hash({ requested, path, version }));
    const known = await readFile(note, 'utf8').catch(() => undefined);
    if (known !== undefined && /^inline-[0-9a-f]{20}$/.test(known) && (await this.maker.isWhole(known)))
      return known;
    await beforeMaking();
    options.onStep?.(`Preparing an environment for ${requested.join(', ') || `Python ${version}`}.`);
    const { pins } = await this.installer.only(interpreter, asked, options);
    const description = `For scripts that ask for ${requested.join(', ') || 'nothing'}.`;
    const name = await this.exactly({ pins, requested, interpreter, inherit: false, description }, options);
    writeDurably(note, name);
    return name;
  }

  /** Returns the name of an environment with exactly this content. */
  async exactly(
    { pins, requested, interpreter, inherit, description }: Filling,
    options: StepOptions,
  ): Promise<string> {
    const { path, version } = interpreter;
    const named = pins.map(({ name, version: of, url, hashes }) => [name, of, url ?? null, hashes]);
    const name = `inline-${hash({ pins: named, path, version, ...(inherit && { inherit }) })}`;
    if (await this.maker.isWhole(name)) return name;
    const wanted = { name, description, interpreter, inherit, inline: true };
    const contents = this.installer.exactly(pins, requested, options);
    await this.maker.make(wanted, contents, options).catch(tolerateExisting);
    return name;
  }
}

/** Two concurrent runs may both create it; one of them is first. */
function tolerateExisting(error: unknown): void {
  if (!(error instanceof PungiError) || error.code !== 'ENVIRONMENT_EXISTS') throw error;
}
