import { parse, TomlError } from 'smol-toml';
import { PungiError } from '../../base/errors.js';

/** What a script says about itself in its `# /// script` block (PEP 723). */
export interface InlineMetadata {
  dependencies: string[];
  requiresPython: string | null;
}

const OPENING = /^# \/\/\/ ([a-zA-Z0-9-]+)$/;
const CLOSING = '# ///';

/** Null where the code has no such block. */
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
  /** Of its opening line, from 1. */
  line: number;
}

/**
 * The blocks that the regular expression of PEP 723 finds. It takes the last closing line among the comments that
 * follow, looks for it anew from every opening line, and so takes quadratic time; this reads each line once.
 */
export function findBlocks(code: string, type: string): Block[] {
  const lines = code.split(/\r\n|\r|\n/);
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const opened = OPENING.exec(lines[at]!)?.[1];
    if (opened === undefined) continue;
    const first = at + 1;
    while (at + 1 < lines.length && isContent(lines[at + 1]!)) at += 1;
    const comments = lines.slice(first, at + 1);
    const closing = comments.lastIndexOf(CLOSING);
    if (closing < 1 || opened !== type) continue;
    const content = comments.slice(0, closing).map((line) => line.slice(line.startsWith('# ') ? 2 : 1));
    blocks.push({ content: content.join('\n'), line: first });
  }
  return blocks;
}

const isContent = (line: string) => line === '#' || line.startsWith('# ');

function readToml({ content, line }: Block): Record<string, unknown> {
  try {
    return parse(content);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The library's message goes on with a drawing of the place.
    const what = error.message.split('\n', 1)[0]!.replace(/^Invalid TOML document: /, '');
    throw invalid(
      `The "# /// script" block is not TOML, at line ${line + error.line} of the script: ${what}.`,
    );
  }
}

const invalid = (sentence: string) => new PungiError('INVALID_INPUT', sentence, { issues: [sentence] });
