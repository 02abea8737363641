import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import type { Printed } from '@pungi/core/base';
import type { Terminal } from '../terminal.js';
import type { Ask } from './ask.js';
import type { FrameKind } from './frames.js';

type Send = (kind: FrameKind, payload?: string | Uint8Array) => void;

/** The terminal of a command in another process. */
export class RemoteTerminal implements Terminal {
  readonly stdout: Printed;
  readonly stderr: Printed;
  readonly stdin: AsyncIterable<Uint8Array>;
  #interrupt: (() => void) | undefined;
  #isInterrupted = false;
  #give: ((piece: Uint8Array | null) => void) | undefined;

  constructor(
    private readonly ask: Pick<Ask, 'cwd' | 'isPiped' | 'isTerminal'>,
    private readonly send: Send,
  ) {
    this.stdout = this.#printed('stdout');
    this.stderr = this.#printed('stderr');
    this.stdin = this.#pieces();
  }

  isPiped(): boolean {
    return this.ask.isPiped;
  }

  at = (path: string): string => resolve(this.ask.cwd, path);

  onInterrupt(callback: () => void): () => void {
    this.#interrupt = callback;
    if (this.#isInterrupted) callback();
    return () => {
      this.#interrupt = undefined;
    };
  }

  /** The command was asked to stop, or has gone. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#interrupt?.();
    this.give(null);
  }

  /** Nobody reads the standard output of the command any more. */
  loseReader(): void {
    this.stdout.emit('error', new Error('nobody reads'));
  }

  /** The next piece of standard input, or null at its end. */
  give(piece: Uint8Array | null): void {
    this.#give?.(piece);
    this.#give = undefined;
  }

  #printed(kind: 'stdout' | 'stderr'): Printed {
    const { send } = this;
    const stream: Printed = new Writable({
      write(data: Buffer, _, done) {
        send(kind, data);
        done();
      },
    });
    stream.isTTY = this.ask.isTerminal[kind];
    return stream;
  }

  /** Asks for a piece when the run wants one: the command reads no more of its input than the run does. */
  async *#pieces(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = await new Promise<Uint8Array | null>((resolve) => {
        this.#give = resolve;
        if (this.#isInterrupted) this.give(null);
        else this.send('want');
      });
      if (piece === null) return;
      yield piece;
    }
  }
}
