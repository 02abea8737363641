import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Deeper than uv nests its entries. */
const DEEPEST = 4;

/** A snapshot of uv's cache, to find what was added since. */
export class CacheSnapshot {
  private constructor(
    private readonly folder: string,
    private readonly entries: ReadonlySet<string>,
    private readonly unpacked: ReadonlySet<string>,
  ) {}

  static async take(folder: string): Promise<CacheSnapshot> {
    return new CacheSnapshot(folder, new Set(await entriesIn(folder)), new Set(await unpackedIn(folder)));
  }

  /** Returns the packages with new entries. */
  async newPackages(): Promise<string[]> {
    const added = (await entriesIn(this.folder)).filter((path) => !this.entries.has(path));
    return [...new Set(added.map((path) => basename(dirname(path))))];
  }

  /** Returns the bytes unpacked since, up to the limit. */
  async grownBy(limit: number): Promise<number> {
    let bytes = 0;
    const left = (await unpackedIn(this.folder)).filter((path) => !this.unpacked.has(path));
    while (left.length > 0 && bytes <= limit) {
      const folder = left.pop()!;
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) left.push(path);
        else bytes += (await lstat(path).catch(() => undefined))?.size ?? 0;
      }
    }
    return bytes;
  }
}

/** Returns the files by which uv indexes wheels: …/NAME/FILE. */
async function entriesIn(folder: string): Promise<string[]> {
  const buckets = (await namesIn(folder)).filter((name) => /^wheels-v\d+$/.test(name));
  let found: string[] = [];
  let level = buckets.map((name) => join(folder, name));
  for (let depth = 0; depth < DEEPEST && level.length > 0; depth += 1) {
    const below = await Promise.all(
      level.map(async (path) => (await namesIn(path)).map((name) => join(path, name))),
    );
    level = below.flat();
    found = [...found, ...level];
  }
  return found;
}

/** Returns unpacked wheels, and folders in which they are being unpacked. */
async function unpackedIn(folder: string): Promise<string[]> {
  const names = await namesIn(folder);
  const archives = names.filter((name) => /^archive-v\d+$/.test(name));
  const inside = await Promise.all(
    archives.map(async (name) => (await namesIn(join(folder, name))).map((one) => join(folder, name, one))),
  );
  return [
    ...names.filter((name) => name.startsWith('.tmp')).map((name) => join(folder, name)),
    ...inside.flat(),
  ];
}

/** Returns nothing if it is not a folder, or does not exist. */
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
