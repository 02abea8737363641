import { readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { Pungi } from '@pungi/core';
import { type Logger, makeFolders, PACKAGE_ROOT } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import { placeOf } from '../script-folder.js';
import type { Ask, ForwardedRun } from './ask.js';
import { type OpenFolder, openPrivateFolder, socketsFolder } from './folder.js';
import { type FrameKind, frameReader, packFrame } from './frames.js';
import { RemoteTerminal } from './remote-terminal.js';
import { settingsJudge } from './same-settings.js';

/** More than the arguments and variables of a process can be. */
const LONGEST_FRAME = 8 * 1024 * 1024;
const MOST_CONNECTIONS = 64;
/** While commands have not read so much of what they were sent, no more are taken. */
const MOST_UNREAD = 16 * 1024 * 1024;
const HANDSHAKE_MS = 5000;
/** Its packages may have to be installed, as the command's own variables say. */
const NAMES_PACKAGES = /^# \/\/\/ script/m;

/** Does the runs of commands of the same user and settings, on a socket that only the user can reach. */
export class CommandDoor {
  readonly #name = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  readonly #server = createServer((socket) => this.#welcome(socket)).unref();
  readonly #sockets = new Set<Socket>();
  /** Commands that were taken and have not ended. */
  readonly #taken = new Set<Socket>();
  readonly #runs = new Set<Promise<void>>();
  #isSame: (ask: Ask) => boolean = () => false;
  #folder: OpenFolder | undefined;
  #isStopped = false;

  constructor(
    private readonly pungi: Pungi,
    private readonly logger: Logger,
  ) {
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.on('error', (error) => this.#report(error));
  }

  /** Takes commands as soon as Python can run, unless the socket cannot be private. */
  open(config: Config): void {
    this.pungi
      .ready()
      .then(() => this.#isStopped || this.#listen(config))
      .catch((error) => this.#report(error));
  }

  /** Takes no more commands. */
  stop(): void {
    this.#isStopped = true;
    this.#server.close();
    process.off('exit', this.#remove);
    this.#remove();
    this.#folder?.close();
    this.#folder = undefined;
  }

  /** Resolves when every command has its answer. */
  async settled(): Promise<void> {
    await Promise.all(this.#runs);
  }

  #listen(config: Config): void {
    this.#isSame = settingsJudge(config, join(PACKAGE_ROOT, 'dist/bundle'));
    const path = socketsFolder();
    makeFolders(dirname(path));
    makeFolders(path, 0o700);
    this.#folder = openPrivateFolder(path);
    sweep(this.#folder);
    this.#server.listen(this.#folder.at(this.#name));
    process.once('exit', this.#remove);
  }

  #remove = (): void => {
    if (this.#folder) rmSync(this.#folder.at(this.#name), { force: true });
  };

  #report(error: Error): void {
    this.logger.debug('Commands run by themselves', { reason: error.message });
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket.unref());
    const send = (kind: FrameKind, payload?: string | Uint8Array) => {
      if (socket.writable) socket.write(packFrame(kind, payload));
    };
    const timer = setTimeout(() => socket.destroy(), HANDSHAKE_MS).unref();
    let asked: Accepted | undefined;
    let terminal: RemoteTerminal | undefined;
    const actions: Partial<Record<FrameKind, (payload: Buffer) => void>> = {
      ask: (payload) => {
        if (asked !== undefined) return socket.destroy();
        asked = this.#accepted(payload);
        if (asked === undefined) socket.end(packFrame('no'));
        else {
          this.#taken.add(socket);
          send('yes');
        }
      },
      go: () => {
        if (asked === undefined || terminal !== undefined) return socket.destroy();
        clearTimeout(timer);
        terminal = new RemoteTerminal(asked.ask, send);
        const done = this.#run(asked.command, terminal).then((status) => {
          this.#taken.delete(socket);
          if (socket.writable) socket.end(packFrame('status', String(status)));
        });
        this.#runs.add(done);
        void done.finally(() => this.#runs.delete(done));
      },
      input: (piece) => terminal?.give(Buffer.from(piece)),
      inputEnd: () => terminal?.give(null),
      cancel: () => terminal?.interrupt(),
      unread: () => terminal?.loseReader(),
    };
    const read = frameReader(LONGEST_FRAME, (kind, payload) => {
      const act = actions[kind];
      if (act === undefined) socket.destroy();
      else act(payload);
    });
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      try {
        read(chunk);
      } catch {
        socket.destroy();
      }
    });
    socket.on('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
      if (terminal === undefined) this.#taken.delete(socket);
      else terminal.interrupt();
    });
  }

  /** Undefined if this server would not do the very same, or not at once. */
  #accepted(payload: Buffer): Accepted | undefined {
    try {
      const ask = JSON.parse(payload.toString()) as Ask;
      const isTaken = this.#hasRoom() && this.#isSame(ask) && isPlain(ask);
      return isTaken ? { ask, command: ask.command } : undefined;
    } catch (error) {
      this.#report(error as Error);
      return undefined;
    }
  }

  /** A slot stays for the clients of the server. A command that finds no room runs by itself. */
  #hasRoom(): boolean {
    const { maxConcurrentExecutions: slots } = this.pungi.config;
    const unread = [...this.#sockets].reduce((sum, { writableLength }) => sum + writableLength, 0);
    return this.pungi.freeSlots > 1 && this.#taken.size < slots - 1 && unread < MOST_UNREAD;
  }

  /** Runs it with the command line's own function. */
  async #run({ operands, options }: ForwardedRun, terminal: RemoteTerminal): Promise<number> {
    const [{ run }, { reportError }] = await Promise.all([import('../run.js'), import('../report-error.js')]);
    const { timeout, ...texts } = options;
    const parsed = {
      ...texts,
      ...(timeout !== undefined && { timeout: Number(timeout) }),
      ...{ file: [], data: [], with: [] },
    };
    const prepare = () => this.pungi.runForCommand.bind(this.pungi);
    return run(operands, parsed, { terminal, prepare }).catch((thrown) =>
      reportError(thrown, terminal.stderr),
    );
  }
}

interface Accepted {
  ask: Ask;
  command: ForwardedRun;
}

/** Whether the plain workers of a server suffice: no packages to install, and no folder to show. */
function isPlain({ command: { operands, options }, cwd }: Ask): boolean {
  if (options.code !== undefined) return !NAMES_PACKAGES.test(options.code);
  const file = resolve(cwd, operands[0]!);
  const code = readFileSync(file, 'utf8');
  return !NAMES_PACKAGES.test(code) && placeOf(file, code).folder === undefined;
}

/** Removes sockets that a killed server left. */
function sweep(folder: OpenFolder): void {
  for (const name of folder.names()) {
    const probe = connect(folder.at(name), () => probe.destroy());
    probe.unref().on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED') rmSync(folder.at(name), { force: true });
    });
  }
}
