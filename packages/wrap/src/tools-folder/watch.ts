import { type FSWatcher, statSync, watch } from 'node:fs';

/** Saving a file is several events; what a person has saved is looked at when it has become quiet. */
const QUIET_MS = 100;
const LONGEST_MS = 1000;
/** Where the system tells nothing, such as of folders on other machines. */
const LOOK_EVERY_MS = 5000;
const MOST_FOLDERS = 100;

/** Tells when something may have changed in one of some folders. Telling too often is allowed, telling never is not. */
export class FolderWatch {
  /** Which folder it is, since another may get its name, and what tells of it. */
  readonly #watchers = new Map<string, { identity: string; watcher: FSWatcher }>();
  readonly #changed: () => void;
  readonly #regular: NodeJS.Timeout;
  #quiet: NodeJS.Timeout | undefined;
  #since = 0;

  constructor(changed: () => void, lookEveryMs = LOOK_EVERY_MS) {
    this.#changed = changed;
    this.#regular = setInterval(changed, lookEveryMs).unref();
  }

  /** Whether the system tells of changes in all of them. To be said at each look: folders come and go. */
  follow(folders: readonly string[]): boolean {
    const wanted = new Map(folders.slice(0, MOST_FOLDERS).map((folder) => [folder, identityOf(folder)]));
    for (const [folder, { identity }] of this.#watchers) {
      if (wanted.get(folder) !== identity) this.#drop(folder);
    }
    for (const [folder, identity] of wanted) this.#add(folder, identity);
    return folders.every((folder) => this.#watchers.has(folder));
  }

  close(): void {
    clearInterval(this.#regular);
    clearTimeout(this.#quiet);
    for (const folder of this.#watchers.keys()) this.#drop(folder);
  }

  #add(folder: string, identity: string | undefined): void {
    if (identity === undefined || this.#watchers.has(folder)) return;
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#notice());
      watcher.on('error', () => this.#drop(folder));
      this.#watchers.set(folder, { identity, watcher });
    } catch {
      // the regular looks find what changes
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }

  #notice(): void {
    const now = performance.now();
    if (this.#quiet === undefined) this.#since = now;
    clearTimeout(this.#quiet);
    const wait = Math.max(0, Math.min(QUIET_MS, this.#since + LONGEST_MS - now));
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      this.#changed();
    }, wait).unref();
  }
}

/** Undefined where there is none. */
function identityOf(folder: string): string | undefined {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder);
    return `${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return undefined;
  }
}
