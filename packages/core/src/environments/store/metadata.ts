import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { PungiError } from '../../base/errors.js';
import { syncFolder, writeAtomically } from '../../base/files.js';
import { PackageInfo } from '../../contract/environment.js';

export const METADATA_FILE = 'pungi.json';
export const FORMAT = 1;

/** What is known of an environment. Names the generation in force, so writing it is what makes a change. */
export const Metadata = z.object({
  format: z.literal(FORMAT),
  name: z.string(),
  description: z.string(),
  created: z.iso.datetime(),
  generation: z.string().regex(/^g[0-9a-z]+$/),
  python: z.object({ path: z.string(), version: z.string() }),
  /** Whether it sees the packages of its interpreter. */
  inherit: z.boolean(),
  /** The user's own virtual environment below the default one. */
  parent: z.string().nullable(),
  inline: z.boolean(),
  requested: z.array(z.string()),
  packages: z.array(PackageInfo),
  bytes: z.number(),
  sharedBytes: z.number(),
});
export type Metadata = z.infer<typeof Metadata>;

/** The metadata of an environment's folder; undefined where there is none that can be understood. */
export async function readMetadata(folder: string): Promise<Metadata | undefined> {
  // What cannot be read is not for that reason damaged: then this rejects.
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

/** The old or the new one is there at every instant, also after a power cut. */
export function writeMetadata(folder: string, metadata: Metadata): void {
  // What could not be read back must not be put in force.
  const text = JSON.stringify(Metadata.parse(metadata), null, 2);
  writeDurably(join(folder, METADATA_FILE), `${text}\n`);
}

/** Makes it last, too. Whatever the umask, everybody may read it unless the mode says otherwise. */
export function writeDurably(path: string, text: string, mode = 0o644): void {
  writeAtomically(path, text, { mode, isDurable: true });
  try {
    syncFolder(dirname(path));
  } catch {
    // It is in force already; not every file system can make its name last.
  }
}
