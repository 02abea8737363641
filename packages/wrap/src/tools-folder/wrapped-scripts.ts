import { EventEmitter } from 'node:events';
import { dirname } from 'node:path';
import { type Logger, PungiError, Semaphore, within } from '@pungi/core/base';
import type { PythonSide } from '../discover/discover-script.js';
import { availabilityOf } from '../discover/surrounding.js';
import { keptDiscovery } from './kept-discovery.js';
import { loadScript, stateOf } from './load-script.js';
import { nameTools } from './name-tools.js';
import { listSources } from './registrations.js';
import { FolderWatch } from './watch.js';
import {
  type Entry,
  type Offer,
  offerOf,
  type ScriptInUse,
  type ScriptSource,
  tellFaults,
  unread,
  type WrappedScript,
  type WrappedTool,
  withoutClaimed,
} from './wrapped-script.js';

/** Scripts that are looked at at the same time; calls want workers, too. */
const AT_A_TIME = 2;
/** A list of tools waits this long for the first look at the folder. */
const LONGEST_WAIT_MS = 15_000;
/** A look waits this long for its scripts; what takes longer is in use when it is done, and keeps nobody else waiting. */
const PATIENCE_MS = 10_000;

/** How long things take, where that is not the usual. */
export interface Pace {
  patienceMs?: number | undefined;
  lookEveryMs?: number | undefined;
  /** The tools of an unchanged script are those of its tools file: it is not loaded to see whether it still works. */
  areFilesTrusted?: boolean | undefined;
}

interface Read extends Pick<WrappedScript, 'inUse' | 'problem'> {
  isToBeTriedAgain: boolean;
}

/**
 * The scripts of a tools folder and their tools, as they are now: the folder is watched, and looked at again after each
 * change. A script that is broken keeps the tools that it had.
 */
export class WrappedScripts {
  readonly folder: string | null;
  /** Why the folder cannot be read. */
  problem: string | null = null;
  readonly #side: PythonSide;
  readonly #logger: Logger;
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #turns = new Semaphore(AT_A_TIME);
  readonly #pace: Pace;
  #watch: FolderWatch | undefined;
  #first: Promise<void> | undefined;
  /** Of all places in the folder, in use or not. */
  #entries: Entry[] = [];
  #scripts: WrappedScript[] = [];
  /** By their origins: what is still being read since an earlier look, and what such reading came to. */
  readonly #late = new Set<string>();
  readonly #done = new Map<string, Entry>();
  #offer: Offer = offerOf([]);
  #exists = false;
  #looking: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isClosed = false;

  /** `isWanted`: somebody has said that there is such a folder. */
  constructor(
    folder: string | null,
    side: PythonSide,
    logger: Logger,
    private readonly isWanted: boolean,
    pace: Pace = {},
  ) {
    this.folder = folder;
    this.#side = keptDiscovery(side);
    this.#logger = logger;
    this.#pace = pace;
  }

  /** Watches the folder from now on. Returns at once; the first look goes on behind it. More than once is fine. */
  watch(): void {
    if (this.folder === null || this.#isClosed || this.#watch !== undefined) return;
    this.#watch = new FolderWatch(() => void this.look(), this.#pace.lookEveryMs);
    void this.look();
  }

  get scripts(): readonly WrappedScript[] {
    return this.#scripts;
  }

  /** By the names that clients call them. */
  get tools(): ReadonlyMap<string, WrappedTool> {
    return this.#offer.tools;
  }

  /** Whether there is a folder to speak of. */
  get isOffered(): boolean {
    return this.folder !== null && (this.isWanted || this.#exists);
  }

  /** Resolves when the folder has been looked at once, or when that takes too long to wait for it. */
  settled(): Promise<void> {
    return within(this.#first ?? this.look(), LONGEST_WAIT_MS);
  }

  /** Resolves when what lies in the folder now is known, or when that takes too long to wait for it. */
  current(): Promise<void> {
    return within(this.look(), LONGEST_WAIT_MS);
  }

  /** Called after each change of what clients are offered; the result ends that. */
  onChange(listener: () => void): () => void {
    this.#events.on('change', listener);
    return () => this.#events.off('change', listener);
  }

  /** Resolves when everything that lay in the folder at the time of the call is known, save what takes too long to read. */
  look(): Promise<void> {
    if (this.folder === null || this.#isClosed) return Promise.resolve();
    if (this.#looking === undefined) {
      this.#looking = this.#look(this.folder).finally(() => {
        this.#looking = undefined;
      });
      this.#first ??= this.#looking;
      return this.#looking;
    }
    // The look that is under way may have passed what was changed since.
    this.#next ??= this.#looking.then(() => {
      this.#next = undefined;
      return this.look();
    });
    return this.#next;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch?.close();
    this.#events.removeAllListeners();
    await this.#looking;
  }

  async #look(folder: string): Promise<void> {
    try {
      const { sources, problem, exists } = await listSources(folder);
      const before = new Map(this.#entries.map((entry) => [entry.origin, entry]));
      for (const [origin, entry] of this.#done) before.set(origin, entry);
      this.#done.clear();
      const entries = await this.#readAll(folder, sources, before);
      if (this.#isClosed) return;
      this.#exists = exists;
      const offerProblem = this.#use(entries);
      this.#tell(problem ?? offerProblem);
      this.#watch?.follow([
        ...new Set([folder, ...entries.flatMap(({ paths }) => paths.map((path) => dirname(path)))]),
      ]);
    } catch (error) {
      this.#tell(`The tools folder ${folder} could not be looked at: ${PungiError.from(error).message}`);
    }
  }

  /** The entries of all sources; of those that take too long, what is known so far. */
  async #readAll(
    folder: string,
    sources: readonly ScriptSource[],
    before: ReadonlyMap<string, Entry>,
  ): Promise<Entry[]> {
    const read = new Map<string, Entry>();
    let isOver = false;
    const readings = sources
      .filter(({ origin }) => !this.#late.has(origin))
      .map(async (source) => {
        const { origin } = source;
        try {
          const entry = await this.#turns.take(() => this.#entry(folder, source, before.get(origin)));
          (isOver ? this.#done : read).set(origin, entry);
        } finally {
          if (this.#late.delete(origin)) void this.look();
        }
      });
    await within(Promise.all(readings), this.#pace.patienceMs ?? PATIENCE_MS);
    isOver = true;
    return sources.map((source) => {
      const { origin } = source;
      const entry = read.get(origin);
      if (entry === undefined) this.#late.add(origin);
      return entry ?? before.get(origin) ?? unread(folder, source);
    });
  }

  async #entry(folder: string, source: ScriptSource, before: Entry | undefined): Promise<Entry> {
    if (this.#isClosed) return before ?? unread(folder, source);
    const known = before?.paths ?? [];
    const { text } = await stateOf(known);
    const isSame = before !== undefined && before.state === text;
    if (isSame && (await this.#standsAsBefore(before))) return before;
    const paths = new Set<string>();
    const { isToBeTriedAgain, ...read } = await loadScript(
      folder,
      source,
      this.#side,
      paths,
      this.#pace.areFilesTrusted,
    ).then(
      (inUse) => this.#loaded(source, inUse, before),
      (error: unknown) => this.#broken(source, PungiError.from(error), before),
    );
    if (read.problem !== null) for (const path of known) paths.add(path);
    // Where these are the same files, their state is known from before they were read.
    const isKnown = known.length === paths.size && known.every((path) => paths.has(path));
    const state = isKnown ? { text, isRecent: false } : await stateOf([...paths]);
    return {
      ...source,
      ...read,
      paths: isKnown ? known : [...paths],
      state: state.isRecent || isToBeTriedAgain ? '' : state.text,
    };
  }

  /** Environments come and go, and packages in them, while the files stay as they are. */
  async #standsAsBefore({ inUse }: Entry): Promise<boolean> {
    if (inUse === null) return true;
    const { trouble, generation } = await availabilityOf(this.#side, inUse.tools);
    return trouble === inUse.availability.trouble && generation === inUse.availability.generation;
  }

  #loaded({ origin }: ScriptSource, inUse: ScriptInUse, before: Entry | undefined): Read {
    const { faults, availability } = inUse;
    const isNew = JSON.stringify(before?.inUse?.faults ?? []) !== JSON.stringify(faults);
    if (isNew) tellFaults(this.#logger, origin, faults);
    const problem = availability.trouble ?? inUse.problem;
    if (problem !== null && problem !== before?.problem)
      this.#logger.error('A wrapped script cannot run', { script: origin, problem });
    return { inUse, problem, isToBeTriedAgain: false };
  }

  #broken({ origin }: ScriptSource, { code, message, details }: PungiError, before: Entry | undefined): Read {
    if (before?.problem !== message && !this.#isClosed)
      this.#logger.error('A wrapped script cannot be used', { script: origin, problem: message });
    // What is no fault of the script may be over at the next look.
    const isToBeTriedAgain = code !== 'PYTHON_ERROR' && code !== 'INVALID_INPUT';
    const inUse = details['isGone'] === true ? null : (before?.inUse ?? null);
    return { inUse, problem: message, isToBeTriedAgain };
  }

  /** Why not everything is offered. */
  #use(entries: Entry[]): string | null {
    const isSame = entries.length === this.#entries.length && entries.every(isAt(this.#entries));
    if (isSame) return this.#offer.problem;
    this.#entries = entries;
    this.#scripts = withoutClaimed(entries);
    const before = this.#offer;
    this.#offer = offerOf(
      nameTools(
        this.#scripts.flatMap(({ name, inUse }) => (inUse === null ? [] : [{ name, inUse }])),
        before.tools.values(),
      ),
    );
    const { text, tools, problem } = this.#offer;
    if (text !== before.text) {
      this.#logger.info('Wrapped tools', { tools: tools.size, scripts: this.#scripts.length });
      this.#events.emit('change');
    }
    return problem;
  }

  /** That the folder of a person who wraps nothing is not there is no news. */
  #tell(problem: string | null): void {
    const isNews = problem !== null && problem !== this.problem;
    if (isNews) this.#logger[this.#exists || this.isWanted ? 'error' : 'debug'](problem);
    this.problem = problem;
  }
}

const isAt = (known: readonly Entry[]) => (entry: Entry, index: number) => entry === known[index];
