import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { isLarge, ownTurn } from '../base/turns.js';
import type { AuditRecord, AuditSettings, EnvironmentLock } from '../contract/audit.js';
import { type Caller, SELF } from '../contract/caller.js';
import { auditError, troubleOf } from './audit-error.js';
import { AuditTrail } from './audit-trail.js';
import { canonicalJson } from './chain.js';
import { RunDenials, type RunFacts, runRecord, sessionId } from './run-facts.js';

/** A trail that could not be opened is retried at most this often. */
const RETRY_MS = 1000;
/** A refused client can use a name of any length. */
const MOST_CLIENT = 200;

type DataOf<Kind extends AuditRecord['kind']> = Extract<AuditRecord, { kind: Kind }>['data'];
/** The client and token that an event is attributed to. */
type Who = Pick<Caller, 'client' | 'token'>;
const BY_PUNGI: Who = { client: SELF.client, token: SELF.token };

type EnvironmentEvent = Who & Omit<DataOf<'environment'>, 'environmentLock'>;
/** A copy of a session, named by handles; the trail keeps only their hashes. */
type SessionEvent = Who & DataOf<'session'>;
type InstallEvent = Who & Omit<DataOf<'install'>, 'environmentLock'>;
/** Something that a run was denied while it ran, such as a host. */
type DenialEvent = Who &
  Pick<DataOf<'denial'>, 'what' | 'reason' | 'environment' | 'profile'> & { runId: string };

/** A change of what the server offers: the old and the new value. */
export type ConfigurationChange = Omit<DataOf<'configuration'>, 'settings'>;

/** Records what Pungi does in the audit trail, which it opens itself. It does nothing if the trail is off. */
export class AuditRecorder {
  readonly folder: string | null;
  /** Why nothing can be recorded at the moment, and the fix. */
  problem: string | null = null;
  readonly #settings: AuditSettings | null;
  readonly #logger: Logger;
  readonly #denials = new RunDenials();
  #trail: Promise<AuditTrail> | undefined;
  #current: AuditTrail | undefined;
  /** When to retry a trail that could not be opened. */
  #retryAt = 0;
  #isClosed = false;

  /** The trail opens when it is first needed. */
  constructor(settings: AuditSettings | null, logger: Logger) {
    this.#settings = settings;
    this.#logger = logger;
    this.folder = settings?.folder ?? null;
  }

  /** Resolves when the trail is writable; rejects with the problem and its fix. */
  async ready(): Promise<void> {
    const trail = await this.#opened();
    try {
      trail?.refuseIfFull();
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** Resolves when the run and all its denials are recorded. The outcome must not be returned before that. */
  async run(facts: RunFacts): Promise<void> {
    if (this.#settings === null) return;
    void this.#opened(); // at once: it may be closed while denials are recorded
    await this.#denials.settled(facts.outcome.runId);
    if (isLarge([facts.inputs])) await ownTurn();
    await this.#record(runRecord(facts), facts.lock, 'note');
  }

  environment({ client, token, ...data }: EnvironmentEvent, lock: EnvironmentLock | null): Promise<void> {
    const whole = { ...data, environmentLock: lock?.sha256 ?? null };
    return this.#record({ kind: 'environment', client, token, data: whole }, lock);
  }

  /** A copy of a session was made or taken up. */
  session({ client, token, ...data }: SessionEvent): Promise<void> {
    const forked = data.forked === null ? null : sessionId(data.forked);
    const hidden = { ...data, session: sessionId(data.session), forked };
    return this.#record({ kind: 'session', client, token, data: hidden });
  }

  install({ client, token, ...data }: InstallEvent, lock: EnvironmentLock | null): Promise<void> {
    const whole = { ...data, environmentLock: lock?.sha256 ?? null };
    return this.#record({ kind: 'install', client, token, data: whole }, lock);
  }

  /** Records each denial once per run. `run` waits for it. */
  denial({ client, token, ...event }: DenialEvent): Promise<void> {
    const data = { ...event, code: null, codeSha256: null, environmentLock: null, details: null };
    return this.#denials.add(event.runId, event.what, () =>
      this.#record({ kind: 'denial', client, token, data }),
    );
  }

  /** Records what changed since the latest settings of this client, without secrets. */
  async configuration(settings: Record<string, unknown>, who: Who = BY_PUNGI): Promise<void> {
    const trail = await this.#opened();
    if (trail === undefined) return;
    const [latest] = trail.list({ kind: 'configuration', client: who.client, limit: 1 });
    const data = configurationChange(latest?.kind === 'configuration' ? latest.data : undefined, settings);
    if (data !== undefined) await this.#record({ kind: 'configuration', ...who, data });
  }

  /** Records a change of what the server offers while it runs. The settings stay the same. */
  async change(data: ConfigurationChange, who: Who): Promise<void> {
    const trail = await this.#opened();
    if (trail === undefined) return;
    const [latest] = trail.list({ kind: 'configuration', limit: 1 });
    const settings = latest?.kind === 'configuration' ? latest.data.settings : {};
    await this.#record({ kind: 'configuration', ...who, data: { ...data, settings } });
  }

  server(event: 'started' | 'stopped', details: DataOf<'server'>['details']): Promise<void> {
    return this.#record({ kind: 'server', ...BY_PUNGI, data: { event, details } });
  }

  /** Returns the lock file that an entry names. */
  async lockText(sha256: string): Promise<string> {
    const trail = await this.#opened();
    if (trail === undefined)
      throw new PungiError('AUDIT_UNAVAILABLE', 'The audit trail is off (AUDIT=false).');
    return trail.lockText(sha256);
  }

  /** Commits pending records and signs the newest entry. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const trail = await this.#trail?.catch(() => undefined);
    await trail?.close().catch((error: unknown) => this.#refusal(error));
  }

  async #record(
    record: AuditRecord,
    lock: EnvironmentLock | null = null,
    how: 'record' | 'note' = 'record',
  ): Promise<void> {
    const trail = await this.#opened();
    if (trail === undefined) return;
    const client = record.client.slice(0, MOST_CLIENT);
    try {
      await trail[how](client === record.client ? record : { ...record, client }, lock);
      this.problem = null;
    } catch (error) {
      const refusal = this.#refusal(error);
      if (isOver(error) && this.#current === trail) this.#abandon(trail, refusal);
      throw refusal;
    }
  }

  /** Returns undefined if the trail is off. */
  #opened(): Promise<AuditTrail> | undefined {
    if (this.#settings === null) return undefined;
    if (performance.now() >= this.#retryAt && !this.#isClosed) this.#open(this.#settings);
    if (this.#trail === undefined) throw auditError('closed', 'The audit trail is closed.');
    return this.#trail;
  }

  #open(settings: AuditSettings): void {
    this.#retryAt = Number.POSITIVE_INFINITY;
    this.#trail = AuditTrail.open(settings, this.#logger).then(
      (trail) => {
        this.problem = null;
        this.#current = trail;
        return trail;
      },
      (error: unknown) => {
        this.#retryAt = performance.now() + RETRY_MS;
        throw this.#refusal(error);
      },
    );
    this.#trail.catch(() => {}); // reported to the callers that await it
  }

  /** The files of this trail are gone; the next caller opens it again. */
  #abandon(trail: AuditTrail, refusal: PungiError): void {
    this.#current = undefined;
    this.#retryAt = performance.now() + RETRY_MS;
    this.#trail = Promise.reject(refusal);
    this.#trail.catch(() => {});
    trail.close().catch(() => {}); // its files may be gone
  }

  /** Returns the error for the refused caller; each problem is logged once. */
  #refusal(error: unknown): PungiError {
    const refusal = withAdvice(error);
    if (this.problem !== refusal.message) this.#logger.error(refusal.message, refusal.details);
    this.problem = refusal.message;
    return refusal;
  }
}

/** A full disk, a full trail and a foreign lock are temporary; anything else requires opening the files again. */
const isOver = (error: unknown) => !['busy', 'disk-full', 'full', undefined].includes(troubleOf(error));

const ADVICE = 'choose another folder with AUDIT_DIR, or record nothing with AUDIT=false';

const ROOM =
  'Runs are refused until there is room: remove old entries with "pungi audit prune", raise AUDIT_MAX_MB, or have the oldest dropped with AUDIT_WHEN_FULL=rotate.';

function withAdvice(error: unknown): PungiError {
  const { message, details, cause } = PungiError.from(error);
  const trouble = troubleOf(error);
  const isDamaged = trouble === 'damaged';
  const advice = isDamaged
    ? `See what is wrong with "pungi audit verify" and move the folder away to begin anew, ${ADVICE}.`
    : trouble === 'full'
      ? ROOM
      : `Runs are refused until it can be written: repair this, ${ADVICE}.`;
  return new PungiError(
    isDamaged ? 'AUDIT_DAMAGED' : 'AUDIT_UNAVAILABLE',
    `${message.replace(/\.?$/, '.')} ${advice}`,
    details,
    cause ?? error,
  );
}

type Settings = Record<string, unknown>;
type ConfigurationData = Extract<AuditRecord, { kind: 'configuration' }>['data'];

/** Returns what changed since the settings of the latest entry, or undefined. */
function configurationChange(
  latest: ConfigurationData | undefined,
  current: Settings,
): ConfigurationData | undefined {
  const settings = withoutSecrets(current) as Settings;
  if (latest === undefined) return asData('the first', null, settings, settings);
  const earlier = latest.settings as Settings;
  const names = [...new Set([...Object.keys(earlier), ...Object.keys(settings)])].sort();
  const changed = names.filter((name) => canonicalJson(earlier[name]) !== canonicalJson(settings[name]));
  if (changed.length === 0) return undefined;
  const pick = (from: Settings) => Object.fromEntries(changed.map((name) => [name, from[name] ?? null]));
  return asData(changed.join(', '), pick(earlier), pick(settings), settings);
}

const asData = (change: string, before: Settings | null, after: Settings, settings: Settings) =>
  ({ change, before, after, settings }) as ConfigurationData;

/** Keeps only the origin of an address: user names, passwords, paths and queries of webhooks are secrets. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(ADDRESS, plainAddress);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value ?? null;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutSecrets(member)]));
}

/** Matches an address anywhere in a text, such as "six @ git+https://ann:secret@host/six.git". */
const ADDRESS = /[a-z][a-z\d+.-]*:\/\/[^\s"'`<>]*/gi;

function plainAddress(text: string): string {
  const [, scheme, authority = '', path = ''] = /^([^:]*:\/\/)([^/?#\\]*)(.*)$/.exec(text)!;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  // A password that contains a slash would look like a host.
  if (!/^([\w.*-]+|\[[\da-f:.]+\])?(:\d+)?$/i.test(host)) return `${scheme}…`;
  return `${scheme}${host}${path === '' || path === '/' ? '' : '/…'}`;
}
