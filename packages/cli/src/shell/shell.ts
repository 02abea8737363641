import type { Pungi } from '@pungi/core';
import { PungiError, printable, type Style } from '@pungi/core/base';
import {
  type ArtifactContent,
  CLI,
  type Display,
  exitCodeOf,
  type OnStep,
  type Outcome,
  type RunRequest,
} from '@pungi/core/contract';
import { filesOfDisplay, withoutShown } from '../display-files.js';
import { OutFolder } from '../out-folder.js';
import { failureText } from '../run-output.js';
import { inlinePicture, type Pictures, pictureProtocol } from './pictures.js';

/** What every new session begins with. */
export type Beginning = Pick<RunRequest, 'venvName' | 'packages' | 'profile' | 'files'>;

export interface ShellParts {
  pungi: Pungi;
  beginning: Beginning;
  limits: NonNullable<RunRequest['limits']>;
  pictures: Pictures;
  /** Where files that the session makes are saved; undefined: nowhere. */
  out: string | undefined;
  onStep: OnStep;
  /** Called before anything is written. */
  clear: () => void;
  style: Style;
  /** What follows when a session has ended. */
  afterEnd: string;
}

/** The result of an input. */
export interface Done {
  /** The exit status, as of a run. */
  status: number;
  /** Whether the code asked to leave. */
  leaves: boolean;
}

/** Runs inputs in a session, one after the other, and prints what they do. */
export class Shell {
  #session: string | undefined;
  #seenNotes = new Set<string>();
  #endsLine = true;

  constructor(private readonly parts: ShellParts) {}

  get hasSession(): boolean {
    return this.#session !== undefined;
  }

  /** Says how a line may go on. */
  async complete(line: string): Promise<[completions: string[], replaced: string]> {
    const { pungi, onStep } = this.parts;
    const last = line.split('\n').at(-1)!;
    const where = this.#session === undefined ? this.#place : { session: this.#session };
    const { completions, length } = await pungi.complete({ code: last, ...where }, { caller: CLI, onStep });
    return [completions, last.slice(last.length - length)];
  }

  async isWhole(code: string, isTyped: boolean): Promise<boolean> {
    return (await this.#read(code, isTyped)).isWhole;
  }

  /** Splits code into statements. Code that does not compile is one. */
  async statements(code: string): Promise<string[]> {
    const { ends } = await this.#read(code, false);
    const lines = code.split('\n');
    const begins = [0, ...ends];
    const found = ends.map((end, index) => lines.slice(begins[index], end).join('\n'));
    return ends.length > 0 ? found : code.trim() === '' ? [] : [code];
  }

  /** Runs an input. `signal` interrupts it. */
  async run(code: string, signal: AbortSignal): Promise<Done> {
    const { pungi, beginning, limits, onStep, clear, out } = this.parts;
    const left: ArtifactContent[] = [];
    const isNew = this.#session === undefined;
    const outcome = await pungi.run(
      { code, session: this.#session ?? 'new', interactive: true, limits, ...(isNew && beginning) },
      {
        signal,
        caller: CLI,
        onStep,
        ...(out !== undefined && { onFiles: (_, files) => left.push(...files) }),
        onOutput: (stream, data) => {
          clear();
          this.#endsLine = data.at(-1) === 0x0a;
          process[stream].write(data);
        },
      },
    );
    clear();
    if (!this.#endsLine) process.stdout.write('\n');
    this.#endsLine = true;
    this.#save(withoutShown(left, outcome.displays ?? []));
    return this.#report(outcome, left);
  }

  /** Ends the session; the next input starts one. */
  restart(): void {
    const id = this.#session;
    this.#session = undefined;
    if (id !== undefined) this.parts.pungi.endSession(id, CLI);
  }

  async #read(code: string, isTyped: boolean) {
    const { pungi, onStep } = this.parts;
    return pungi.readPrompt({ code, isTyped, ...this.#place }, { caller: CLI, onStep });
  }

  /** What determines where a session runs. */
  get #place(): Omit<Beginning, 'files'> {
    const { files: _, ...place } = this.parts.beginning;
    return place;
  }

  #save(files: readonly ArtifactContent[]): void {
    if (this.parts.out === undefined || files.length === 0) return;
    const folder = new OutFolder(this.parts.out);
    for (const { path, content } of files) folder.save(path, content);
    folder.report();
  }

  #report(outcome: Outcome, left: readonly ArtifactContent[]): Done {
    const { verdict, session, value, notes = [], disclosure } = outcome;
    for (const [index, display] of (outcome.displays ?? []).entries())
      this.#show(display, filesOfDisplay(left, display, index + 1));
    for (const note of notes.filter((one) => !this.#seenNotes.has(one))) {
      this.#seenNotes.add(note);
      this.#say(note);
    }
    const isAlive = session?.alive === true;
    const leaves = isAlive && (verdict.kind === 'exited' || value?.type === 'SystemExit');
    this.#session = isAlive ? session.id : undefined;
    const status = exitCodeOf(verdict);
    if (!leaves) this.#explain(outcome);
    if (disclosure !== null) process.stderr.write(`${printable(disclosure.text)}\n`);
    return { status, leaves };
  }

  /** Says what went wrong, and whether the session has ended with it. */
  #explain({ verdict, session }: Outcome): void {
    if (verdict.kind === 'no-session') {
      this.#say(`${verdict.message.replace(/ Start one with .*$/, '')} ${this.parts.afterEnd}`);
    } else if (verdict.kind === 'python-error') {
      const { traceback, hint } = verdict.exception;
      process.stderr.write(`${traceback.trimEnd()}\n`);
      if (hint !== null) this.#say(hint);
    } else if (verdict.kind === 'cancelled' && session?.alive !== false) {
      process.stderr.write('KeyboardInterrupt\n');
    } else if (verdict.kind === 'cancelled') {
      this.#sayEnded('The code could not be interrupted, so its session was ended');
    } else {
      const failure = failureText(verdict);
      if (failure !== undefined) process.stderr.write(`${failure}\n`);
      const why =
        failure === undefined
          ? `The session has ended, because its process exited with status ${exitCodeOf(verdict)}`
          : 'This has ended the session';
      if (session?.alive === false) this.#sayEnded(why);
    }
  }

  #show(display: Display, kept: ReadonlyMap<string, Buffer>): void {
    const { pictures, style } = this.parts;
    try {
      const paths = pictures.save(display, kept);
      if (process.stdout.isTTY) process.stdout.write(inlinePicture(display, pictureProtocol(process.env)));
      for (const path of paths) process.stderr.write(`${style('dim', `pungi: saved ${path}`)}\n`);
    } catch (error) {
      this.#say(`The picture could not be saved: ${PungiError.from(error).message}`);
    }
  }

  #sayEnded(how: string): void {
    this.#say(`${how}: its variables and files are gone. ${this.parts.afterEnd}`);
  }

  #say(sentence: string): void {
    process.stderr.write(`pungi: ${printable(sentence)}\n`);
  }
}
