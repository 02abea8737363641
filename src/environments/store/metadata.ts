import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { PackageInfo } from '../../contract/environment.js';

export const METADATA_FILE = 'pungi.json';

/** What is known of an environment. Names the generation in force, so writing it is what makes a change. */
export const Metadata = z.object({
  format: z.literal(1),
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
  try {
    const parsed = Metadata.safeParse(JSON.parse(await readFile(join(folder, METADATA_FILE), 'utf8')));
    return parsed.data;
  } catch {
    return undefined;
  }
}

/** The old or the new one is there at every instant, also after a power cut. */
export async function writeMetadata(folder: string, metadata: Metadata): Promise<void> {
  await writeAtomically(join(folder, METADATA_FILE), `${JSON.stringify(metadata, null, 2)}\n`);
}

export async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  const file = await open(temporary, 'wx', 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(temporary, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}
