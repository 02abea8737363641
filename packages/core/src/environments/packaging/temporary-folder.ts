import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a private folder that is removed when the work has ended. */
export async function withTemporaryFolder<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `pungi-${name}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes leftovers of killed processes: entries with this prefix that are older than this. */
export async function removeAbandoned(folder: string, olderThanMs: number, prefix = ''): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const path = join(folder, name);
    const touched = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - touched > olderThanMs) await rm(path, { recursive: true, force: true });
  }
}
