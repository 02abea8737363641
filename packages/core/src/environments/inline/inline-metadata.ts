import { parse, TomlError } from 'smol-toml';
import { PungiError } from '../../base/errors.js';

/** The metadata of a script's `# /// script` block (PEP 723). */
interface InlineMetadata {
  dependencies: string[];
  requiresPython: string | null;
}

const OPENING = /^# \/\/\/ ([a-zA-Z0-9-]+)$/;
const CLOSING = '# ///';

/** Returns null if the code has no such block. */
export function readInlineMetadata(code: string): InlineMetadata | null {
  if (!code.includes('# /// script')) return null;
  const [block, another] = findBlocks(code, 'script');
  if (block === undefined) return null;
  if (another !== undefined) {
    throw invalid(
      `The script has more than one "# /// script" block: at line ${block.line} and ${another.line}.`,
    );
  }
  const { dependencies = [], 'requires-python': requiresPython = null } = readToml(block);
  if (!Array.isArray(dependencies) || !dependencies.every((one) => typeof one === 'string')) {
    throw invalid('In the "# /// script" block, dependencies is not a list of texts.');
  }
  if (requiresPython !== null && typeof requiresPython !== 'string') {
    throw invalid('In the "# /// script" block, requires-python is not a text.');
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
    throw invalid(
      `The "# /// script" block at line ${line} has more than ${MAX_BLOCK_CHARS} characters: shorten it.`,
    );
  try {
    return parse(content);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The library's message continues with a drawing of the position.
    const what = error.message.split('\n', 1)[0]!.replace(/^Invalid TOML document: /, '');
    throw invalid(
      `The "# /// script" block is not TOML, at line ${line + error.line} of the script: ${what}.`,
    );
  }
}

const invalid = (sentence: string) => new PungiError('INVALID_INPUT', sentence, { issues: [sentence] });
