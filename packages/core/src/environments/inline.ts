import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { invalidInput, PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import type { StepOptions } from '../contract/environment.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import type { Installer } from './installer.js';
import type { LockedOptions, Pin } from './packaging/packager.js';
import type { Contents, NewEnvironment } from './store/generations.js';
import type { Layout } from './store/layout.js';
import { writeDurably } from './store/metadata.js';

/** The metadata of a script's `# /// script` block (PEP 723). */
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
    options: LockedOptions,
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

const OPENING = /^# \/\/\/ ([a-zA-Z0-9-]+)$/;
const CLOSING = '# ///';

/** Returns null if the code has no such block. */
export function readInlineMetadata(code: string): InlineDependencies | null {
  if (!code.includes('# /// script')) return null;
  const [block, another] = findBlocks(code, 'script');
  if (block === undefined) return null;
  if (another !== undefined) {
    throw invalidInput(
      `The script has more than one "# /// script" block: at line ${block.line} and ${another.line}.`,
    );
  }
  const { dependencies = [], 'requires-python': requiresPython = null } = readToml(block);
  if (!Array.isArray(dependencies) || !dependencies.every((one) => typeof one === 'string')) {
    throw invalidInput('In the "# /// script" block, dependencies is not a list of texts.');
  }
  if (requiresPython !== null && typeof requiresPython !== 'string') {
    throw invalidInput('In the "# /// script" block, requires-python is not a text.');
  }
  return { dependencies, requiresPython };
}

interface Block {
  content: string;
  /** The number of its opening line, from 1. */
  line: number;
}

/** Enough for more than a hundred dependencies, and small enough for a fast TOML parse. */
const MAX_BLOCK_CHARS = 16 * 1024;
/** A second block is an error. */
const MOST_BLOCKS = 2;

/**
 * Returns the first two blocks that the regular expression of PEP 723 matches. That expression searches the last
 * closing line again from every opening line, which takes quadratic time; this reads each line once.
 */
export function findBlocks(code: string, type: string): Block[] {
  const blocks: Block[] = [];
  let line = 0;
  let opened: { type: string; line: number; comments: string[] } | undefined;
  const close = () => {
    const closing = opened?.comments.lastIndexOf(CLOSING) ?? -1;
    if (opened?.type === type && closing >= 1) {
      const content = opened.comments.slice(0, closing).map((one) => one.slice(one.startsWith('# ') ? 2 : 1));
      blocks.push({ content: content.join('\n'), line: opened.line });
    }
    opened = undefined;
  };
  for (const text of linesOf(code)) {
    line += 1;
    if (opened && isContent(text)) {
      opened.comments.push(text);
      continue;
    }
    close();
    if (blocks.length === MOST_BLOCKS) return blocks;
    const found = text.startsWith('# /// ') ? OPENING.exec(text)?.[1] : undefined;
    if (found !== undefined) opened = { type: found, line, comments: [] };
  }
  close();
  return blocks;
}

/** Yields lines one by one: for two megabytes of code, an array of all lines would take longer. */
function* linesOf(code: string): Generator<string> {
  const ending = /\r\n|\r|\n/g;
  let from = 0;
  for (let found = ending.exec(code); found !== null; found = ending.exec(code)) {
    yield code.slice(from, found.index);
    from = ending.lastIndex;
  }
  yield code.slice(from);
}

const isContent = (line: string) => line === '#' || line.startsWith('# ');

function readToml({ content, line }: Block): Record<string, unknown> {
  if (content.length > MAX_BLOCK_CHARS)
    throw invalidInput(
      `The "# /// script" block at line ${line} has more than ${MAX_BLOCK_CHARS} characters: shorten it.`,
    );
  try {
    return parse(content);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The library's message continues with a drawing of the position.
    const what = error.message.split('\n', 1)[0]!.replace(/^Invalid TOML document: /, '');
    throw invalidInput(
      `The "# /// script" block is not TOML, at line ${line + error.line} of the script: ${what}.`,
    );
  }
}
