import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createUser, fromSeed } from '@nats-io/nkeys';
import { fileProblem, makeFolders, PungiError, writeAtomically } from '@pungi/core/base';
import { z } from 'zod';
import { Signer, Verifier } from './protocol/signing.js';
import { isToken } from './protocol/subjects.js';

/** The files of a folder with credentials. A front end needs `signing`, a worker `frontEnds`; the server may need the others. */
export const CREDENTIAL_FILES = {
  /** Whose credentials they are: JSON (Member). Without it, the name of the cluster and of a worker are free. */
  member: 'member.json',
  /** The seed of the NATS user. */
  nats: 'nats.nk',
  /** The certificates that the NATS server's one must be signed by. */
  ca: 'ca.pem',
  /** The seed with which a front end signs its requests. */
  signing: 'signing.nk',
  /** The public keys of the front ends, one in each line, after a comment with the name. */
  frontEnds: 'front-ends.txt',
  /** The public keys of operators, which may drain and cordon a worker, and read the audit trail of a front end. */
  operators: 'operators.txt',
  /** The public key that signs profiles. */
  owner: 'owner.txt',
  /** The owner's: the key that signs certificates of NATS servers. */
  authority: 'ca.key',
} as const;

/** Whose credentials a folder has. */
export const Member = z.object({
  cluster: z.string().refine(isToken),
  role: z.enum(['front', 'worker', 'operator', 'owner']),
  /** Of a worker, the name that its heartbeats and orders have. */
  name: z.string().refine(isToken),
});
export type Member = z.infer<typeof Member>;
export type Role = Member['role'];

/** What a connection to NATS needs. */
export interface NatsCredentials {
  seed?: Uint8Array;
  caFile?: string;
  /** The inboxes that it may read. */
  inboxPrefix?: string;
}

/** Nobody else can read the answers to a member's requests. */
export const inboxPrefixOf = ({ name }: Pick<Member, 'name'>): string => `_INBOX.${name}`;

export interface KeyPair {
  seed: string;
  publicKey: string;
}

/** Makes a key for NATS or for signatures. */
export function makeKeyPair(): KeyPair {
  const pair = createUser();
  return { seed: Buffer.from(pair.getSeed()).toString(), publicKey: pair.getPublicKey() };
}

/** Throws CONFIGURATION_ERROR if there is no such folder, or its key cannot be used. */
export function natsCredentials(folder: string): NatsCredentials {
  if (!existsSync(folder))
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `There is no folder ${folder}: name the credentials with --creds.`,
    );
  const [seed, caFile] = [join(folder, CREDENTIAL_FILES.nats), join(folder, CREDENTIAL_FILES.ca)];
  const member = memberOf(folder);
  return {
    ...(existsSync(seed) && { seed: Buffer.from(readSecret(folder, 'nats')) }),
    ...(existsSync(caFile) && { caFile }),
    ...(member && { inboxPrefix: inboxPrefixOf(member) }),
  };
}

/** Returns undefined if the folder does not say. Throws CONFIGURATION_ERROR if it cannot be read. */
export function memberOf(folder: string): Member | undefined {
  if (!existsSync(join(folder, CREDENTIAL_FILES.member))) return undefined;
  const text = read(folder, 'member');
  try {
    return Member.parse(JSON.parse(text));
  } catch {
    throw unusable(folder, 'member', 'it does not name a member of a cluster');
  }
}

/** Throws CONFIGURATION_ERROR if the folder is not that of a front end. */
export function signerOf(folder: string): Signer {
  const seed = readSecret(folder, 'signing');
  return new Signer(seed, publicKeyOf(folder, seed));
}

/** Throws CONFIGURATION_ERROR if the folder is not that of a worker. */
export function verifierOf(folder: string): Verifier {
  const keys = keysOf(folder, 'frontEnds');
  if (keys.length === 0) throw unusable(folder, 'frontEnds', 'it names no front end');
  return new Verifier(keys);
}

/** Of background runs that other front ends have accepted. Without a file with their keys, a front end knows only its own. */
export function frontVerifierOf(folder: string, { publicKey }: Signer): Verifier {
  const hasOthers = existsSync(join(folder, CREDENTIAL_FILES.frontEnds));
  return new Verifier([publicKey, ...(hasOthers ? keysOf(folder, 'frontEnds') : [])]);
}

/** Of orders to the worker itself: front ends and operators may give them. */
export function operatorVerifierOf(folder: string): Verifier {
  const hasOperators = existsSync(join(folder, CREDENTIAL_FILES.operators));
  return new Verifier([...keysOf(folder, 'frontEnds'), ...(hasOperators ? keysOf(folder, 'operators') : [])]);
}

/** Of requests for the audit trail of a front end: only operators may read it. */
export const operatorsOf = (folder: string): Verifier =>
  new Verifier(existsSync(join(folder, CREDENTIAL_FILES.operators)) ? keysOf(folder, 'operators') : []);

/** Of shared profiles: only the owner signs them. Nobody does in a cluster without one. */
export function ownerOf(folder: string): Verifier {
  if (memberOf(folder)?.role === 'owner') return new Verifier([signerOf(folder).publicKey]);
  return new Verifier(existsSync(join(folder, CREDENTIAL_FILES.owner)) ? keysOf(folder, 'owner') : []);
}

/** The front ends of a cluster with their names, as an operator's folder has them. */
export function frontEndsOf(folder: string): { name: string; key: string }[] {
  let name = '';
  return read(folder, 'frontEnds')
    .split('\n')
    .map((line) => line.trim())
    .flatMap((line) => {
      if (line.startsWith('#')) name = line.slice(1).trim();
      if (line === '' || line.startsWith('#')) return [];
      const found = { name: name || line.slice(0, 8), key: line };
      name = '';
      return [found];
    });
}

/** One in each line; lines that begin with # are comments. */
const keysOf = (folder: string, name: 'frontEnds' | 'operators' | 'owner'): string[] =>
  read(folder, name)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** Writes a folder with credentials that only its owner can read. */
export function writeCredentials(
  folder: string,
  contents: Partial<Record<keyof typeof CREDENTIAL_FILES, string>>,
): void {
  makeFolders(folder, 0o700);
  for (const [name, content] of Object.entries(contents)) {
    const path = join(folder, CREDENTIAL_FILES[name as keyof typeof CREDENTIAL_FILES]);
    writeAtomically(path, `${content.trim()}\n`, { mode: 0o600 });
  }
}

function publicKeyOf(folder: string, seed: string): string {
  try {
    return fromSeed(Buffer.from(seed)).getPublicKey();
  } catch {
    throw unusable(folder, 'signing', 'it is not the seed of an nkey');
  }
}

/** A key that others can read is not used. */
function readSecret(folder: string, name: 'nats' | 'signing'): string {
  const text = read(folder, name);
  const { mode } = statSync(join(folder, CREDENTIAL_FILES[name]));
  if ((mode & 0o077) !== 0) throw unusable(folder, name, 'others can read it: chmod it to 600');
  return text;
}

function read(folder: string, name: keyof typeof CREDENTIAL_FILES): string {
  try {
    return readFileSync(join(folder, CREDENTIAL_FILES[name]), 'utf8').trim();
  } catch (error) {
    throw unusable(folder, name, fileProblem(error));
  }
}

const unusable = (folder: string, name: keyof typeof CREDENTIAL_FILES, why: string) =>
  new PungiError(
    'CONFIGURATION_ERROR',
    `The cluster credentials ${join(folder, CREDENTIAL_FILES[name])} cannot be used: ${why}.`,
  );
