import { openTrailForReading, type TrailReader } from '@pungi/core/audit';
import { countText, silentLogger } from '@pungi/core/base';
import type { AuditVerification } from '@pungi/core/contract';
import { type ClusterAddress, openConnection } from '../connection.js';
import { frontEndsOf, natsCredentials, signerOf } from '../credentials.js';
import { subjectsOf } from '../protocol/subjects.js';
import { type FrontCheckpoints, readCheckpoints } from './checkpoint-stream.js';
import { type AskingParts, askTrail, type Unasked } from './trail-requests.js';

/** A trail that was checked: where it was, and how far the checkpoints vouch for it. */
export interface CheckedTrail {
  trail: string;
  /** A folder of this machine; null if the front end sent it. */
  folder: string | null;
  entries: number;
  head: AuditVerification['head'];
  removed: AuditVerification['removed'];
  /** The newest entry that a checkpoint of the cluster names and the trail has. */
  boundThrough: number;
}

/** What is known of the trail of one front end. */
export interface FrontAudit {
  frontEnd: string;
  key: string;
  /** `unchecked`: nothing is known to be wrong, but not everything could be checked. */
  state: 'ok' | 'damaged' | 'unchecked';
  checkpoints: number;
  trails: CheckedTrail[];
  /** One sentence each. */
  problems: string[];
  /** Why something was not checked. */
  unchecked: string[];
}

export interface ClusterAudit {
  ok: boolean;
  cluster: string;
  frontEnds: FrontAudit[];
  /** Trails of this machine that no front end has published. */
  others: { folder: string; problems: string[] }[];
}

export interface VerifyAuditOptions {
  creds: string;
  /** Folders of this machine with trails, or copies of them. */
  folders: readonly string[];
  signal: AbortSignal;
  onStep: (step: string) => void;
}

/** A trail that was read, and the hashes that it has. */
interface Source {
  trail: string;
  folder: string | null;
  found: AuditVerification;
  /** REMOVED for an entry that was pruned after it was verified. */
  hashAt(seq: number): string | undefined;
}

const REMOVED = 'removed';

/**
 * Checks the audit trails of all front ends against the checkpoints of the cluster. Throws CONFIGURATION_ERROR if those
 * cannot be read.
 */
export async function verifyAudit(
  address: ClusterAddress,
  options: VerifyAuditOptions,
): Promise<ClusterAudit> {
  const { creds, folders, signal, onStep } = options;
  const [signer, members] = [signerOf(creds), frontEndsOf(creds)];
  const connection = await openConnection(address, 'pungi audit', natsCredentials(creds), silentLogger);
  const readers: TrailReader[] = [];
  try {
    const subjects = subjectsOf(address.name);
    onStep('Reading the checkpoints of the cluster');
    const checkpoints = await readCheckpoints(connection, subjects, signal);
    const local: Source[] = [];
    for (const folder of folders) {
      onStep(`Checking the trail in ${folder}`);
      readers.push(await openTrailForReading(folder));
      local.push(await sourceOf(readers.at(-1)!));
    }
    const names = new Map(members.map(({ name, key }) => [key, name]));
    const frontEnds: FrontAudit[] = [];
    for (const key of new Set([...names.keys(), ...checkpoints.keys()])) {
      const published = checkpoints.get(key) ?? { key, signed: [], problems: [] };
      const name = names.get(key);
      onStep(`Checking the trail of ${name ?? key}`);
      const parts = { connection, subjects, signer, signal };
      frontEnds.push(await auditOf(parts, { name, published, local }));
    }
    frontEnds.sort((one, other) => (one.frontEnd < other.frontEnd ? -1 : 1));
    const others = othersOf(local, frontEnds);
    const isOk =
      frontEnds.every(({ state }) => state === 'ok') && others.every(({ problems }) => problems.length === 0);
    return { ok: isOk, cluster: address.name, frontEnds, others };
  } finally {
    for (const reader of readers) reader.close();
    await connection.close();
  }
}

function othersOf(local: readonly Source[], frontEnds: readonly FrontAudit[]): ClusterAudit['others'] {
  const known = new Set(frontEnds.flatMap(({ trails }) => trails.map(({ trail }) => trail)));
  const others = local.filter(({ trail }) => !known.has(trail));
  return others.map(({ folder, found }) => ({
    folder: folder!,
    problems: found.problems.map(({ problem }) => problem),
  }));
}

async function sourceOf(reader: TrailReader): Promise<Source> {
  const found = await reader.verify();
  return { trail: reader.id(), folder: reader.folder, found, hashAt: (seq) => hashIn(reader, seq) };
}

/** Entries may be pruned while the trail is compared. A trail whose file is damaged has no hashes. */
function hashIn(reader: TrailReader, seq: number): string | undefined {
  try {
    const { first } = reader.bounds();
    return reader.hashAt(seq) ?? (first !== null && seq < first ? REMOVED : undefined);
  } catch {
    return undefined;
  }
}

interface Asked {
  name: string | undefined;
  published: FrontCheckpoints;
  local: readonly Source[];
}

async function auditOf(parts: AskingParts, { name, published, local }: Asked): Promise<FrontAudit> {
  const { key, signed } = published;
  const sent = await sentBy(parts, published, name !== undefined);
  const isSent = !('reason' in sent);
  const audit: FrontAudit = {
    frontEnd: name ?? signed.at(-1)?.front ?? key,
    ...{ key, state: 'ok', checkpoints: signed.length, trails: [], problems: [...published.problems] },
    unchecked: name === undefined ? ['It is not a member of the cluster any more.'] : [],
  };
  const trails = new Set(signed.map(({ trail }) => trail));
  if (isSent) trails.add(sent.trail);
  for (const trail of trails) {
    const sources = [...local, ...(isSent ? [sent] : [])].filter((source) => source.trail === trail);
    compare(audit, trail, published, sources);
    if (sources.length > 0) continue;
    const count = signed.filter((one) => one.trail === trail).at(-1)!.seq;
    if (isSent)
      audit.problems.push(
        `Its trail was replaced: checkpoints name ${countText(count, 'entry', 'entries')} of another one (${trail.slice(0, 8)}). If that was moved away, name its folder with --trail.`,
      );
  }
  const isAtHand =
    trails.size > 0 && [...trails].every((one) => audit.trails.some(({ trail }) => trail === one));
  if (!isSent && sent.isDamaged) audit.problems.push(sent.reason);
  else if (!isSent && !isAtHand) audit.unchecked.push(sent.reason);
  const isDamaged = audit.problems.length > 0;
  return { ...audit, state: isDamaged ? 'damaged' : audit.unchecked.length > 0 ? 'unchecked' : 'ok' };
}

/** The trail that a running front end sends. */
async function sentBy(
  parts: AskingParts,
  { key, signed }: FrontCheckpoints,
  isMember: boolean,
): Promise<Source | Unasked> {
  if (!isMember) return { isDamaged: false, reason: 'It was not asked.' };
  const check = await askTrail(parts, key, new Set(signed.map(({ seq }) => seq)));
  if ('reason' in check) return check;
  const { id: trail } = check;
  return { trail, folder: null, found: check.result(), hashAt: (seq) => check.hashAt(seq) };
}

/** Compares a trail with what the front end has published of it. A copy may be older than the newest checkpoint. */
function compare(
  audit: FrontAudit,
  trail: string,
  { signed }: FrontCheckpoints,
  sources: readonly Source[],
): void {
  const named = signed.filter((one) => one.trail === trail);
  const newest = named.at(-1)?.seq ?? 0;
  const reached = Math.max(0, ...sources.map(({ found }) => found.head?.seq ?? 0));
  for (const { folder, found, hashAt } of sources) {
    const where = folder === null ? '' : ` (${folder})`;
    const [head, removed] = [found.head?.seq ?? 0, found.removed?.through ?? 0];
    audit.problems.push(...found.problems.map(({ problem }) => `${problem}${where}`));
    let boundThrough = 0;
    let isRewritten = false;
    for (const { seq, hash } of named) {
      if (seq > head || seq <= removed) continue;
      const own = hashAt(seq);
      if (own === hash) boundThrough = seq;
      else if (own !== REMOVED && !isRewritten) {
        isRewritten = true;
        audit.problems.push(
          `Entry ${seq} is not the one of the cluster's checkpoint: it, or entries before it, were rewritten.${where}`,
        );
      }
    }
    const { entries, head: newestEntry, removed: cut } = found;
    audit.trails.push({ trail, folder, entries, head: newestEntry, removed: cut, boundThrough });
  }
  if (sources.length > 0 && reached < newest)
    audit.problems.push(
      `${reached + 1 === newest ? `Entry ${newest} is` : `Entries ${reached + 1} to ${newest} are`} missing: a checkpoint of the cluster refers to them.`,
    );
}
