import { styleFor } from './style.js';
import { cutTo } from './width.js';

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const FRAME_MS = 80;
const BAR_WIDTH = 16;
const CLEAR_LINE = '\r\x1b[2K';

/** One line at the foot of a terminal that says what is done at the moment, and since when. It leaves no trace. */
export class LiveLine {
  #began = performance.now();
  #text = '';
  #share: number | undefined;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly stream: NodeJS.WriteStream) {}

  /** The text is printable, and one line. */
  show(text: string, share?: number): void {
    this.#text = text;
    // A step that cannot say how far it is changes nothing about how far the whole is.
    this.#share = share ?? this.#share;
    // Unreferenced: an ornament keeps no process alive.
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
    this.#draw();
  }

  clear(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.stream.write(CLEAR_LINE);
  }

  #draw(): void {
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const style = styleFor(this.stream);
    const elapsed = `${((performance.now() - this.#began) / 1000).toFixed(1)} s`;
    // The last column stays free: a full line would wrap, and clearing it would clear half of it.
    const bar = this.#share === undefined ? '' : `${barOf(this.#share)} `;
    const text = cutTo(this.#text, (this.stream.columns || 80) - bar.length - elapsed.length - 5);
    const sign = style('cyan', FRAMES[this.#frame]!);
    this.stream.write(`${CLEAR_LINE}${sign} ${style('cyan', bar)}${text}  ${style('dim', elapsed)}`);
  }
}

function barOf(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return `${'━'.repeat(full)}${'╌'.repeat(BAR_WIDTH - full)}`;
}
