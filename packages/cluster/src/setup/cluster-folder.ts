import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { isIP } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { fileProblem, makeFolders, PungiError, writeAtomically } from '@pungi/core/base';
import { z } from 'zod';
import { CREDENTIAL_FILES, Member, makeKeyPair, type Role, writeCredentials } from '../credentials.js';
import { isToken } from '../protocol/subjects.js';
import { makeAuthority, makeServerCertificate } from './certificates.js';
import { FILES, natsConf, usersConf } from './nats-conf.js';

export const DEFAULT_PORT = 4222;
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1'];
const MOST_MEMBERS = 1000;

/** The roles of which a cluster has several. */
export type AddedRole = Extract<Role, 'front' | 'worker'>;

const Described = Member.extend({
  /** The public key of its NATS user. */
  user: z.string(),
  /** The public key that it signs with; workers sign nothing. */
  signing: z.string().optional(),
});

const Cluster = z.object({
  name: z.string().refine(isToken),
  port: z.number().int(),
  hosts: z.array(z.string()).min(1),
  members: z.array(Described),
});
/** What the folder of a cluster says about it. */
export type Cluster = z.infer<typeof Cluster>;

export interface NewCluster {
  name: string;
  workers: number;
  fronts: number;
  /** Names and addresses of the NATS server, besides this machine's own. */
  hosts: readonly string[];
  port?: number;
}

/** Writes the configuration of a cluster into a new folder. All of it, or nothing. Throws INVALID_INPUT. */
export function initCluster(
  folder: string,
  { name, workers, fronts, hosts, port = DEFAULT_PORT }: NewCluster,
): Cluster {
  checkNew(name, [workers, fronts], hosts);
  const counts: Record<Role, number> = { front: fronts, worker: workers, operator: 1, owner: 1 };
  const cluster: Cluster = { name, port, hosts: [...new Set([...hosts, ...LOCAL_HOSTS])], members: [] };
  const draft = draftBeside(folder);
  try {
    const authority = makeAuthority();
    for (const [role, count] of Object.entries(counts) as [Role, number][])
      for (let made = 0; made < count; made += 1) addMemberTo(draft, cluster, role, authority.certificate);
    writeCredentials(join(draft, 'owner'), { authority: authority.key });
    writeServerCertificate(draft, cluster, authority.key);
    // Without another host, nobody else is to connect.
    const listen = { host: hosts.length === 0 ? '127.0.0.1' : '0.0.0.0', port };
    writePrivate(join(draft, FILES.conf), natsConf(name, listen));
    writeMembers(draft, cluster);
    putInPlace(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return cluster;
}

/** Adds a member with a folder of its own. */
export const addMember = (folder: string, role: AddedRole): { cluster: Cluster; added: Member } =>
  change(folder, (cluster) => {
    if (cluster.members.length >= MOST_MEMBERS)
      throw invalid(`A cluster has at most ${MOST_MEMBERS} members.`);
    const authority = readFile(folder, join('owner', CREDENTIAL_FILES.ca));
    return { cluster, added: addMemberTo(folder, cluster, role, authority) };
  });

/** Its key is of no use any more, once the NATS server has read the users again. */
export const removeMember = (folder: string, name: string): { cluster: Cluster; removed: Member } =>
  change(folder, (cluster) => {
    const removed = cluster.members.find((member) => member.name === name);
    if (removed === undefined) throw invalid(`The cluster in ${folder} has no member "${name}".`);
    if (removed.role !== 'front' && removed.role !== 'worker')
      throw invalid(`The ${name} cannot be removed.`);
    cluster.members = cluster.members.filter((member) => member !== removed);
    rmSync(join(folder, name), { recursive: true, force: true });
    return { cluster, removed };
  });

/** Writes a new certificate, for these names and addresses as well. `isLocal`: the NATS server can be reached from this machine only. */
export const addHosts = (folder: string, hosts: readonly string[]): { cluster: Cluster; isLocal: boolean } =>
  change(folder, (cluster) => {
    checkHosts(hosts);
    cluster.hosts = [...new Set([...hosts, ...cluster.hosts])];
    writeServerCertificate(folder, cluster, readFile(folder, join('owner', CREDENTIAL_FILES.authority)));
    return { cluster, isLocal: /^host: "127\./m.test(readFile(folder, FILES.conf)) };
  });

/** One change at a time. */
function change<T>(folder: string, work: (cluster: Cluster) => T): T {
  const lock = join(folder, '.changing');
  const read = () => parseCluster(folder, readFile(folder, FILES.cluster));
  read();
  try {
    mkdirSync(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(folder, error);
    throw invalid(`Another command changes ${folder}: try again, or remove ${lock} if there is none.`);
  }
  try {
    const cluster = read();
    const done = work(cluster);
    writeMembers(folder, cluster);
    return done;
  } catch (error) {
    throw error instanceof PungiError ? error : unwritable(folder, error);
  } finally {
    rmdirSync(lock);
  }
}

function addMemberTo(folder: string, cluster: Cluster, role: Role, authority: string): Member {
  const member = { cluster: cluster.name, role, name: freeName(folder, cluster, role) };
  const nats = makeKeyPair();
  const signing = role === 'worker' ? undefined : makeKeyPair();
  mkdirSync(join(folder, member.name), { mode: 0o700 });
  writeCredentials(join(folder, member.name), {
    member: JSON.stringify(member),
    nats: nats.seed,
    ca: authority,
    ...(signing && { signing: signing.seed }),
  });
  const signs = signing && { signing: signing.publicKey };
  cluster.members.push({ ...member, user: nats.publicKey, ...signs });
  return member;
}

/** Names of removed members are not used again while their folders exist. */
function freeName(folder: string, { members }: Cluster, role: Role): string {
  if (role === 'operator' || role === 'owner') return role;
  const taken = new Set([...members.map(({ name }) => name), ...readdirSync(folder)]);
  for (let number = 1; ; number += 1) if (!taken.has(`${role}-${number}`)) return `${role}-${number}`;
}

/** Writes what follows from the members. */
function writeMembers(folder: string, cluster: Cluster): void {
  const keysOf = (wanted: Role) =>
    cluster.members
      .flatMap(({ role, name, signing }) => (role === wanted && signing ? [`# ${name}\n${signing}`] : []))
      .join('\n');
  const [frontEnds, operators, owner] = [keysOf('front'), keysOf('operator'), keysOf('owner')];
  for (const { role, name } of cluster.members) {
    if (role === 'worker') writeCredentials(join(folder, name), { frontEnds, operators });
    if (role === 'front') writeCredentials(join(folder, name), { frontEnds, operators, owner });
    if (role === 'operator') writeCredentials(join(folder, name), { frontEnds });
  }
  writePrivate(join(folder, FILES.cluster), `${JSON.stringify(cluster, null, 2)}\n`);
  writePrivate(join(folder, FILES.users), usersConf(cluster.name, cluster.members));
}

function writeServerCertificate(folder: string, { hosts }: Cluster, authorityKey: string): void {
  const { certificate, key } = makeServerCertificate(authorityKey, hosts);
  makeFolders(dirname(join(folder, FILES.key)), 0o700);
  writePrivate(join(folder, FILES.key), key);
  writePrivate(join(folder, FILES.certificate), certificate);
}

const writePrivate = (path: string, content: string): void => writeAtomically(path, content, { mode: 0o600 });

function checkNew(name: string, counts: readonly number[], hosts: readonly string[]): void {
  if (!isToken(name))
    throw invalid(`The name of a cluster has letters, digits, "_" and "-": "${name}" cannot be used.`);
  const areFew = counts.every((count) => Number.isInteger(count) && count >= 1 && count < MOST_MEMBERS / 2);
  if (!areFew) throw invalid(`A cluster has 1 to ${MOST_MEMBERS / 2 - 1} workers and front ends.`);
  checkHosts(hosts);
}

const HOST = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,62})(\.[A-Za-z0-9]([A-Za-z0-9-]{0,62}))*$/;

function checkHosts(hosts: readonly string[]): void {
  const wrong = hosts.find((host) => isIP(host) === 0 && !HOST.test(host));
  if (wrong !== undefined)
    throw invalid(`"${wrong}" is not a host: expected a name such as nats.example.org, or an address.`);
}

/** A folder on the same file system, which is renamed at the end. */
function draftBeside(folder: string): string {
  const path = resolve(folder);
  try {
    makeFolders(dirname(path), 0o700);
    return mkdtempSync(join(dirname(path), `.${basename(path)}-`));
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/** An empty folder is replaced, anything else is not. */
function putInPlace(draft: string, folder: string): void {
  try {
    renameSync(draft, resolve(folder));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(code)) throw unwritable(folder, error);
    throw invalid(`${folder} exists already, and nothing in it was changed: name a new folder.`);
  }
}

function readFile(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch (error) {
    const why = `${name} cannot be read (${fileProblem(error)})`;
    throw invalid(`${folder} is not the folder of a cluster: ${why}; write one with pungi cluster init.`);
  }
}

function parseCluster(folder: string, text: string): Cluster {
  try {
    return Cluster.parse(JSON.parse(text));
  } catch {
    throw invalid(`${join(folder, FILES.cluster)} does not describe a cluster: restore it from a copy.`);
  }
}

const unwritable = (folder: string, error: unknown) =>
  invalid(`Could not write the cluster into ${folder}: ${fileProblem(error)}.`);

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);
