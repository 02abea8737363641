import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { PungiError } from '../../base/errors.js';
import { syncFolder, writeAtomically } from '../../base/files.js';
import { PackageInfo } from '../../contract/environment.js';

export const METADATA_FILE = 'pungi.json';
export const FORMAT = 1;

/** The metadata of an environment. It names the active generation, so writing it activates a change. */
export const Metadata = z.object({
  format: z.literal(FORMAT),
  name: z.string(),
  description: z.string(),
  created: z.iso.datetime(),
  generation: z.string().regex(/^g[0-9a-z]+$/),
  python: z.object({ path: z.string(), version: z.string() }),
  /** Whether it sees the packages of its interpreter. */
  inherit: z.boolean(),
  /** The user's virtual environment whose packages the default environment sees. */
  parent: z.string().nullable(),
  inline: z.boolean(),
  requested: z.array(z.string()),
  packages: z.array(PackageInfo),
  bytes: z.number(),
  sharedBytes: z.number(),
});
export type Metadata = z.infer<typeof Metadata>;

/** When an environment is created, for people. */
export const creationTime = (): string => new Date().toISOString();

/** Reads the metadata in an environment's folder; undefined if it is invalid. */
export async function readMetadata(folder: string): Promise<Metadata | undefined> {
  // Rejects if the file cannot be read: that does not mean that it is damaged.
  const text = await readFile(join(folder, METADATA_FILE), 'utf8');
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { format } = (data ?? {}) as { format?: unknown };
  if (typeof format === 'number' && format > FORMAT) {
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `The environment in ${folder} was made by a newer version of Pungi.`,
    );
  }
  return Metadata.safeParse(data).data;
}

/** Replaces the metadata atomically, also in case of a power loss. */
export function writeMetadata(folder: string, metadata: Metadata): void {
  // Invalid metadata must not become active.
  const text = JSON.stringify(Metadata.parse(metadata), null, 2);
  writeDurably(join(folder, METADATA_FILE), `${text}\n`);
}

/** Writes a file so that it outlasts a power loss. Everybody may read it unless `mode` differs, whatever the umask. */
export function writeDurably(path: string, text: string, mode = 0o644): void {
  writeAtomically(path, text, { mode, isDurable: true });
  try {
    syncFolder(dirname(path));
  } catch {
    // It is active already; not every file system can sync a folder.
  }
}
