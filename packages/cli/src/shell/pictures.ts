import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Display, displayContent, displayFile, displayStem, isPicture } from '@pungi/core/contract';

/** Saves what a session shows as files, numbered from one input to the next. */
export class Pictures {
  readonly #isAsked: boolean;
  #folder: string | undefined;
  #count: number;

  /** Without a folder, pictures and charts are saved: one in the system's temporary folder is created for the first of them. */
  constructor(folder: string | undefined) {
    this.#isAsked = folder !== undefined;
    this.#folder = folder;
    this.#count = folder === undefined ? 0 : highestNumber(folder);
  }

  /** Returns the paths of the files. `kept`: those of the display that were left, by the end of their names, in their full size. */
  save(display: Display, kept: ReadonlyMap<string, Buffer>): string[] {
    const isWanted = this.#isAsked ? isSaved : wantedTypes(display);
    const parts = new Map<string, Buffer>();
    for (const [type, content] of Object.entries(display.data)) {
      const file = displayFile(type);
      if (file !== undefined && isWanted(type)) parts.set(file.ending, displayContent(content, file));
    }
    const wanted = [...new Map([...parts, ...kept])];
    if (wanted.length === 0) return [];
    this.#folder ??= mkdtempSync(join(tmpdir(), 'pungi-shell-'));
    this.#count += 1;
    const stem = join(this.#folder, displayStem(display, this.#count));
    return wanted.map(([ending, content]) => {
      writeFileSync(stem + ending, content, { flag: 'wx' });
      return stem + ending;
    });
  }
}

/** Files of an earlier shell are kept. */
function highestNumber(folder: string): number {
  const numbers = readdirSync(folder).map((name) => /^(?:figure|display)-(\d{1,9})\./.exec(name)?.[1] ?? 0);
  return Math.max(0, ...numbers.map(Number));
}

const isSaved = (mediaType: string) => displayFile(mediaType) !== undefined;

/** Pictures, and the page of a chart that has none. The text of everything else is printed already. */
function wantedTypes(display: Display): (mediaType: string) => boolean {
  if (isPicture(display)) return (type) => type.startsWith('image/');
  const isChart = Object.keys(display.data).some((type) => /^application\/vnd\.(plotly|vega)/.test(type));
  return (type) => isChart && type === 'text/html';
}

type Protocol = 'iterm' | 'kitty';

/** Returns how the terminal shows pictures, as its variables say; undefined if it does not. Multiplexers pass none on. */
export function pictureProtocol(env: NodeJS.ProcessEnv): Protocol | undefined {
  const { TERM = '', TERM_PROGRAM = '', LC_TERMINAL, KITTY_WINDOW_ID, TMUX, STY } = env;
  if (TMUX || STY || /^(screen|tmux)/.test(TERM)) return undefined;
  if (KITTY_WINDOW_ID || /kitty|ghostty/.test(TERM) || TERM_PROGRAM === 'ghostty') return 'kitty';
  return TERM_PROGRAM === 'iTerm.app' || TERM_PROGRAM === 'WezTerm' || LC_TERMINAL === 'iTerm2'
    ? 'iterm'
    : undefined;
}

/** A terminal that decodes more than this is slow to show anything else. */
const MOST_INLINE = 4 * 1024 * 1024;
/** The longest part of a picture in the protocol of kitty. */
const CHUNK = 4096;

/** Returns the escape sequence that shows the picture in the terminal; empty if there is none that it can show. */
export function inlinePicture({ data }: Display, protocol: Protocol | undefined): string {
  const { 'image/png': png, 'image/jpeg': jpeg } = data;
  const base64 = png ?? (protocol === 'iterm' ? jpeg : undefined);
  if (protocol === undefined || typeof base64 !== 'string' || base64.length > MOST_INLINE) return '';
  // Encoded here, so that nothing but a picture reaches the terminal.
  const bytes = Buffer.from(base64, 'base64');
  return protocol === 'iterm' ? itermPicture(bytes) : kittyPicture(bytes.toString('base64'));
}

const itermPicture = (bytes: Buffer) =>
  `\x1b]1337;File=inline=1;size=${bytes.length};preserveAspectRatio=1:${bytes.toString('base64')}\x07\n`;

function kittyPicture(base64: string): string {
  const chunks = base64.match(new RegExp(`.{1,${CHUNK}}`, 'g')) ?? [];
  const parts = chunks.map((chunk, index) => {
    const more = index < chunks.length - 1 ? 1 : 0;
    return `\x1b_G${index === 0 ? 'a=T,f=100,q=2,' : ''}m=${more};${chunk}\x1b\\`;
  });
  return `${parts.join('')}\n`;
}
