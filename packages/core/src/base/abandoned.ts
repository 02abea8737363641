import { lstat, rm } from 'node:fs/promises';

const ABANDONED_MS = 60_000;

/** Removes a file or folder that was left half-written. Another process may still be writing a newer one. */
export async function removeAbandoned(path: string): Promise<void> {
  const about = await lstat(path).catch(() => null);
  if (about !== null && Date.now() - about.mtimeMs > ABANDONED_MS)
    await rm(path, { recursive: true, force: true });
}
