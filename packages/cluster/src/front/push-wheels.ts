import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileProblem, PungiError, silentLogger } from '@pungi/core/base';
import { type ClusterAddress, openConnection } from '../connection.js';
import { natsCredentials } from '../credentials.js';
import { hashesOf, isWheel, type Wheel, WheelStore } from '../wheel-store.js';

export interface PushWheels {
  address: ClusterAddress;
  /** The folder with the credentials of a front end. */
  creds: string;
  /** The text of a lock file. */
  lock: string;
  folder: string;
  /** What all wheels of the cluster may take. */
  mostMb: number;
}

export interface PushedWheels {
  pushed: Wheel[];
  /** Files of the folder that the lock does not name. */
  others: string[];
  /** Wheels that made room. */
  removed: number;
}

/**
 * Stores the wheels of a folder that a lock names, for workers that reach no package index. Throws INVALID_INPUT if there is none, or
 * they take too much.
 */
export async function pushWheels({
  address,
  creds,
  lock,
  folder,
  mostMb,
}: PushWheels): Promise<PushedWheels> {
  const hashes = hashesOf(lock);
  const found = await wheelsIn(folder);
  const pushed = found.filter(({ sha256 }) => hashes.has(sha256));
  const others = found.filter(({ sha256 }) => !hashes.has(sha256)).map(({ name }) => name);
  if (pushed.length === 0)
    throw new PungiError(
      'INVALID_INPUT',
      `${folder} has no wheel that the lock names: fetch them with pip download --no-deps --require-hashes -r LOCK -d ${folder}.`,
    );
  const connection = await openConnection(address, 'pungi wheels', natsCredentials(creds), silentLogger);
  try {
    const store = new WheelStore(connection, address.name);
    return { pushed, others, ...(await store.push(pushed, mostMb * 1024 * 1024)) };
  } finally {
    await connection.close();
  }
}

async function wheelsIn(folder: string): Promise<Wheel[]> {
  try {
    const names = (await readdir(folder)).filter(isWheel).sort();
    return await Promise.all(names.map((name) => wheelOf(join(folder, name), name)));
  } catch (error) {
    throw new PungiError('INVALID_INPUT', `${folder} cannot be read: ${fileProblem(error)}.`);
  }
}

async function wheelOf(path: string, name: string): Promise<Wheel> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { path, name, bytes: (await stat(path)).size, sha256: hash.digest('hex') };
}
