import { createInterface, type Interface } from 'node:readline';
import { PassThrough } from 'node:stream';

/** A line, the Ctrl-C that cleared it, or the end of the input. */
export type Typed = { kind: 'line'; text: string } | { kind: 'interrupt' } | { kind: 'end' };

export type Completer = (line: string) => Promise<[completions: string[], replaced: string]>;

const PASTE_ON = '\x1b[?2004h';
const PASTE_OFF = '\x1b[?2004l';
const PASTE_BEGIN = '\x1b[200~';
const PASTE_END = '\x1b[201~';
const CTRL_R = '\x12';
const BELL = '\x07';
const INDENT = '    ';
const MOST_HISTORY = 1000;

/** What node:readline has, but its types call read-only or leave out. */
type Editable = Omit<Interface, 'line' | 'cursor'> & { line: string; cursor: number; history: string[] };

/**
 * Reads lines from a person at a terminal, with editing, history and completion. Pasted text becomes one line, with its line
 * ends. Between two lines the terminal is as it was: Ctrl-C is a signal, and keys wait.
 */
export class TerminalInput {
  readonly #terminal = process.stdin;
  readonly #keys = new PassThrough();
  readonly #lines: Editable;
  readonly #typed: Typed[] = [];
  #onTyped: (() => void) | undefined;
  #pasted: string | undefined;
  /** What Ctrl-R looks for, and the first input of the history that it has not shown yet. */
  #search: { text: string; next: number } | undefined;

  constructor(history: readonly string[], complete: Completer) {
    this.#lines = createInterface({
      input: this.#keys,
      output: process.stdout,
      terminal: true,
      history: [...history],
      historySize: MOST_HISTORY,
      completer: (line: string, done: (error: null, result: [string[], string]) => void) => {
        const isBlank = line.split('\n').at(-1)!.trim() === '';
        if (isBlank) done(null, [[line + INDENT], line]);
        else
          void complete(line)
            .catch((): [string[], string] => [[], line])
            .then((found) => done(null, found));
      },
    }) as unknown as Editable;
    this.#lines.on('line', (text) => this.#add({ kind: 'line', text }));
    this.#lines.on('close', () => this.#add({ kind: 'end' }));
    this.#lines.on('SIGINT', () => this.#interrupt());
    this.#lines.on('SIGTSTP', () => this.#suspend());
    this.#terminal.setEncoding('utf8');
    this.#terminal.on('data', (text: string) => this.#take(text));
    this.#terminal.on('end', () => this.#lines.close());
    this.#terminal.pause();
  }

  /** Lines that came with the one before are returned at once. */
  async next(prompt: string): Promise<Typed> {
    if (this.#typed.length === 0) {
      this.#open();
      this.#lines.setPrompt(prompt);
      this.#lines.prompt();
      await new Promise<void>((resolve) => {
        this.#onTyped = resolve;
      });
      this.#close();
    }
    return this.#typed.shift()!;
  }

  /** The history, the newest first. */
  get history(): readonly string[] {
    return [...this.#lines.history];
  }

  /** Puts a whole input in the place of its lines. */
  remember(input: string, before: readonly string[]): void {
    const { history } = this.#lines;
    const others = before.filter((entry) => entry !== input);
    history.splice(0, history.length, ...[input, ...others].slice(0, MOST_HISTORY));
  }

  close(): void {
    this.#onTyped = undefined;
    this.#lines.close();
    this.#terminal.pause();
  }

  #open(): void {
    this.#terminal.setRawMode(true);
    process.stdout.write(PASTE_ON);
    this.#terminal.resume();
  }

  #close(): void {
    this.#terminal.pause();
    process.stdout.write(PASTE_OFF);
    this.#terminal.setRawMode(false);
  }

  #add(typed: Typed): void {
    this.#typed.push(typed);
    this.#onTyped?.();
    this.#onTyped = undefined;
  }

  #interrupt(): void {
    this.#lines.cursor = this.#lines.line.length;
    this.#lines.prompt(true);
    process.stdout.write('\n');
    this.#lines.line = '';
    this.#lines.cursor = 0;
    this.#typed.length = 0;
    this.#add({ kind: 'interrupt' });
  }

  #suspend(): void {
    this.#close();
    process.once('SIGCONT', () => {
      this.#open();
      this.#lines.prompt(true);
    });
    process.kill(process.pid, 'SIGTSTP');
  }

  /** Passes keys on, and keeps a paste together, which may come in parts. */
  #take(text: string): void {
    if (this.#pasted === undefined) {
      const ctrlR = text.indexOf(CTRL_R);
      const begin = text.indexOf(PASTE_BEGIN);
      if (ctrlR >= 0 && (begin < 0 || ctrlR < begin)) {
        this.#find(text.slice(0, ctrlR), text.slice(ctrlR + 1));
        return;
      }
      this.#search = undefined;
      this.#keys.write(begin < 0 ? text : text.slice(0, begin));
      if (begin < 0) return;
      this.#pasted = '';
      this.#take(text.slice(begin + PASTE_BEGIN.length));
      return;
    }
    this.#pasted += text;
    const end = this.#pasted.indexOf(PASTE_END);
    if (end < 0) return;
    const rest = this.#pasted.slice(end + PASTE_END.length);
    const pasted = this.#pasted.slice(0, end);
    this.#pasted = undefined;
    // After the keys before it, which the stream passes on later.
    setImmediate(() => {
      this.#insert(pasted);
      if (rest !== '') this.#take(rest);
    });
  }

  /** Ctrl-R: the newest input that has what is typed; again, the one before it. */
  #find(before: string, after: string): void {
    if (before !== '') this.#take(before);
    setImmediate(() => {
      const { history, line } = this.#lines;
      this.#search ??= { text: line, next: 0 };
      const { text, next } = this.#search;
      const found = history.findIndex((input, index) => index >= next && input.includes(text));
      if (found < 0) process.stdout.write(BELL);
      else {
        this.#search.next = found + 1;
        this.#lines.line = history[found]!;
        this.#lines.cursor = this.#lines.line.length;
        this.#lines.prompt(true);
      }
      if (after !== '') this.#take(after);
    });
  }

  #insert(pasted: string): void {
    const text = pasted
      .replace(/\r\n?/g, '\n')
      .replace(/\n+$/, '')
      .replace(/[^\P{Cc}\n\t]/gu, '');
    const { line, cursor } = this.#lines;
    this.#lines.line = line.slice(0, cursor) + text + line.slice(cursor);
    this.#lines.cursor = cursor + text.length;
    this.#lines.prompt(true);
  }
}
