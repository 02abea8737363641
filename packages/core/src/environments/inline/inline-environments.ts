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

/** What a script says of itself in its `# /// script` block. */
export interface InlineDependencies {
  dependencies: string[];
  requiresPython: string | null;
}

export interface Maker {
  interpreterFor(specifier: string | undefined, options: StepOptions): Promise<Interpreter>;
  isWhole(name: string): Promise<boolean>;
  make(wanted: NewEnvironment, contents: Contents, options: StepOptions): Promise<void>;
}

/** What exactly an environment is to hold. */
export interface Filling {
  pins: readonly Pin[];
  requested: string[];
  interpreter: Interpreter;
  inherit: boolean;
  description: string;
}

const hash = (value: unknown) => sha256(JSON.stringify(value)).slice(0, 20);

/**
 * Environments made for exactly what scripts ask for in their inline metadata. One is named by what the request resolved
 * to, so that different wishes with the same result share it; which wish leads to which is noted, so that only the first
 * run of a wish is resolved.
 */
export class InlineEnvironments {
  constructor(
    private readonly layout: Layout,
    private readonly installer: Installer,
    private readonly maker: Maker,
  ) {}

  /** The name of the environment, which is there when this resolves. */
  async provide(
    { dependencies, requiresPython }: InlineDependencies,
    options: StepOptions,
    /** Awaited before anything is fetched; rejects where that would be in vain. */
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

  /** The name of the environment that holds this and nothing else, which is there when this resolves. */
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

/** Two runs that want the same at once both want it made; one of them is first. */
function tolerateExisting(error: unknown): void {
  if (!(error instanceof PungiError) || error.code !== 'ENVIRONMENT_EXISTS') throw error;
}
