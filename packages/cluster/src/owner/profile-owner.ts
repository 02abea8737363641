import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { PungiError, silentLogger, writeAtomically } from '@pungi/core/base';
import type { ProfileDefinition } from '@pungi/core/contract';
import { connectShared, problemText } from '@pungi/core/gate';
import { isConflict } from '../bucket.js';
import { bytesOf, type ClusterAddress, openConnection } from '../connection.js';
import { memberOf, natsCredentials, ownerOf, signerOf } from '../credentials.js';
import {
  MOST_SET_BYTES,
  openSet,
  PROFILE_KEY,
  type ProfileSet,
  profileBucketOf,
  signSet,
} from '../protocol/profiles.js';
import { PROTOCOL } from '../protocol/version.js';
import { secretIn } from './secrets.js';

/** The profiles of a cluster. */
export type PushedProfiles = Pick<ProfileSet, 'version' | 'profiles'>;

/** The newest version that was signed, in the folder of the owner: NATS may return an older one. */
const VERSION_FILE = 'profiles.version';

/** The owner of a cluster, who signs the profiles that its front ends share. */
export class ProfileOwner {
  private constructor(
    private readonly connection: NatsConnection,
    private readonly cluster: string,
    private readonly creds: string,
  ) {}

  /** Throws CONFIGURATION_ERROR if NATS cannot be reached. */
  static async connect(address: ClusterAddress, creds: string): Promise<ProfileOwner> {
    const connection = await openConnection(address, 'pungi owner', natsCredentials(creds), silentLogger);
    return new ProfileOwner(connection, address.name, creds);
  }

  /** Version 0 if nothing was shared yet. Throws DENIED if what is stored was not signed by the owner. */
  async list(): Promise<PushedProfiles> {
    return (await this.#read(await this.#bucket())).set;
  }

  /** Adds profiles, or replaces those with the same names. Throws INVALID_INPUT if one cannot be shared. */
  push(definitions: ReadonlyMap<string, ProfileDefinition>): Promise<PushedProfiles> {
    for (const [name, definition] of definitions) {
      const secret = secretIn(definition);
      if (secret !== undefined)
        throw invalid(
          `The profile "${name}" has a secret: ${secret}. Secrets are never shared: keep it in the profiles file of a front end, under another name.`,
        );
    }
    return this.#change((profiles) => ({ ...profiles, ...Object.fromEntries(definitions) }));
  }

  /** Throws INVALID_INPUT if there is no such profile, or others extend it. */
  remove(names: readonly string[]): Promise<PushedProfiles> {
    return this.#change((profiles) => {
      const missing = names.find((name) => !Object.hasOwn(profiles, name));
      if (missing !== undefined)
        throw invalid(
          `The cluster shares no profile "${missing}"; there are: ${Object.keys(profiles).join(', ') || 'none'}.`,
        );
      return Object.fromEntries(Object.entries(profiles).filter(([name]) => !names.includes(name)));
    });
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  async #change(work: (profiles: ProfileSet['profiles']) => ProfileSet['profiles']): Promise<PushedProfiles> {
    if (memberOf(this.creds)?.role !== 'owner')
      throw new PungiError('DENIED', 'Only the owner of a cluster shares profiles: give --creds DIR/owner.');
    const signer = signerOf(this.creds);
    const bucket = await this.#bucket();
    const { set, revision } = await this.#read(bucket);
    const profiles = work(set.profiles);
    const { problems } = connectShared(new Map(Object.entries(profiles)));
    if (problems.length > 0)
      throw invalid(`The profiles cannot be shared: ${problems.map(problemText).join('; ')}.`);
    const next = { v: PROTOCOL, version: Math.max(set.version, this.#signed()) + 1, profiles };
    const value = signSet(signer, this.cluster, next);
    if (value.length > MOST_SET_BYTES)
      throw invalid(`The profiles take ${value.length} bytes, and may take ${MOST_SET_BYTES}: share less.`);
    // First, so that no version is ever used twice.
    writeAtomically(join(this.creds, VERSION_FILE), `${next.version}\n`, { mode: 0o600 });
    try {
      await bucket.put(PROFILE_KEY, value, { previousSeq: revision });
    } catch (error) {
      if (isConflict(error)) throw invalid('Somebody else has changed the profiles meanwhile: try again.');
      throw unusable(error);
    }
    return next;
  }

  async #read(bucket: KV): Promise<{ set: PushedProfiles; revision: number }> {
    const found = await bucket.get(PROFILE_KEY).catch((error) => {
      throw unusable(error);
    });
    if (found === null) return { set: { version: 0, profiles: {} }, revision: 0 };
    const set = openSet(ownerOf(this.creds), this.cluster, bytesOf({ data: found.value }));
    if (typeof set === 'string')
      throw new PungiError('DENIED', `The profiles in NATS cannot be trusted: ${set}.`);
    return { set, revision: found.revision };
  }

  async #bucket(): Promise<KV> {
    const buckets = new Kvm(this.connection);
    const name = profileBucketOf(this.cluster);
    const isOwner = memberOf(this.creds)?.role === 'owner';
    try {
      if (isOwner) return await buckets.create(name, { history: 1, allow_direct: false });
      return await buckets.open(name, { allow_direct: false });
    } catch (error) {
      throw unusable(error);
    }
  }

  #signed(): number {
    const path = join(this.creds, VERSION_FILE);
    const version = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
    return Number.isSafeInteger(version) ? version : 0;
  }
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);
const unusable = (error: unknown) =>
  new PungiError(
    'CONFIGURATION_ERROR',
    `The profiles of the cluster cannot be used: ${(error as Error).message}. Give the credentials of the owner or of a front end.`,
    {},
    error,
  );
