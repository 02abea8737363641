import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { PungiError } from '../../base/errors.js';
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
export async function writeMetadata(folder: string, metadata: Metadata): Promise<void> {
  // What could not be read back must not be put in force.
  const text = JSON.stringify(Metadata.parse(metadata), null, 2);
  await writeAtomically(join(folder, METADATA_FILE), `${text}\n`);
}

export async function writeAtomically(path: string, text: string, mode = 0o644): Promise<void> {
  const temporary = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    // Whatever the umask: another user may run in what this one provides.
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
  // It is in force already; not every file system can make that last by this.
  const folder = await open(dirname(path), 'r');
  await folder
    .sync()
    .catch(() => {})
    .finally(() => folder.close());
}
