import { inboxPrefixOf, type Member, type Role } from '../credentials.js';
import { STORES, type Store, storeName } from '../protocol/stores.js';
import { OPERATOR_ORDERS, ORDERS, QUEUE, subjectsOf } from '../protocol/subjects.js';

/** The subjects that a NATS user may use. A subscription with a queue group is written "SUBJECT GROUP". */
export interface Permissions {
  publish: string[];
  subscribe: string[];
}

/** Whose permissions they are. `signing`: the public key that it signs with. */
type Permitted = Member & { signing?: string | undefined };

/**
 * `look`: gets single messages, wrapped by the server. `write`: also gets them as they are and through consumers, and creates the
 * store. Whoever uses consumers can let the server publish what was stored on any subject, in the name of anybody, because the server
 * does not check where it sends its answers; so workers and operators only look. `append`: looks, creates the store, and writes below
 * its own key.
 */
type Access = 'look' | 'write' | 'append';

/** Who may do what with the stores; nothing else. */
export const STORE_ACCESS: Record<Role, Partial<Record<Store, Access>>> = {
  front: {
    environments: 'write',
    leases: 'write',
    profiles: 'look',
    outcomes: 'write',
    inputs: 'write',
    artifacts: 'write',
    wheels: 'write',
    background: 'write',
    checkpoints: 'append',
  },
  worker: { environments: 'look', inputs: 'look', wheels: 'look' },
  operator: { environments: 'look', checkpoints: 'look' },
  owner: { profiles: 'write' },
};

/** Libraries ask whether there is JetStream. */
const INFO = '$JS.API.INFO';

/** Whether members of a role write no store. */
export const onlyLooks = (role: Role): boolean =>
  Object.values(STORE_ACCESS[role]).every((access) => access === 'look');

/** The account of those who only look has no JetStream and would answer its requests itself, so they are renamed on their way. */
export const renamed = (request: string): string => `look.${request}`;

/** What passes between the account of those who only look and that of the others: messages in both directions, and requests. */
export function crossingsOf(cluster: string): { inward: string[]; outward: string[]; services: string[] } {
  const subjects = subjectsOf(cluster);
  const looks = (['worker', 'operator'] as const).flatMap((role) =>
    Object.keys(STORE_ACCESS[role]).flatMap((store) =>
      storeSubjects({ cluster, role, name: role }, store as Store, 'look'),
    ),
  );
  return {
    inward: [subjects.beats, subjects.free, subjects.reply('*', '*'), subjects.trail('*')],
    outward: [
      subjects.offer({ generation: '*', arch: '*', need: '*' }),
      subjects.change,
      subjects.fronts,
      subjects.orders({ worker: '*', incarnation: '*' }),
      subjects.entries('*'),
    ],
    services: [...new Set([INFO, ...looks])],
  };
}

/** Everything that a member may do in its cluster. */
export function permissionsOf(member: Permitted): Permissions {
  const { role, name } = member;
  const { publish, subscribe } = coreSubjects(member)[role];
  const accesses = Object.entries(STORE_ACCESS[role]) as [Store, Access][];
  const stores = accesses.flatMap(([store, access]) => storeSubjects(member, store, access));
  const requests = [INFO, ...stores];
  return {
    publish: [...publish, ...(onlyLooks(role) ? requests.map(renamed) : requests)],
    subscribe: [...subscribe, `${inboxPrefixOf({ name })}.>`],
  };
}

/** Without JetStream. */
function coreSubjects({ cluster, name, signing = name }: Permitted): Record<Role, Permissions> {
  const subjects = subjectsOf(cluster);
  const anyWorker = { worker: '*', incarnation: '*' };
  const offers = subjects.offer({ generation: '*', arch: '*', need: '*' });
  return {
    front: {
      publish: [
        offers,
        subjects.change,
        ...ORDERS.map((kind) => subjects.order(anyWorker, kind)),
        subjects.fronts,
        subjects.entries('*'),
      ],
      subscribe: [
        subjects.beats,
        subjects.free,
        subjects.fronts,
        subjects.replies('*'),
        subjects.trail(signing),
      ],
    },
    worker: {
      publish: [subjects.beat(name), subjects.free, subjects.replies('*')],
      subscribe: [
        `${offers} ${QUEUE}`,
        `${subjects.change} ${QUEUE}`,
        subjects.fronts,
        subjects.orders({ worker: name, incarnation: '*' }),
      ],
    },
    operator: {
      publish: [...OPERATOR_ORDERS.map((kind) => subjects.order(anyWorker, kind)), subjects.trail('*')],
      subscribe: [subjects.beats, subjects.fronts, subjects.replies(name), subjects.entries('*')],
    },
    owner: { publish: [], subscribe: [] },
  };
}

/** What is published for an access: requests to JetStream, and the content itself. */
function storeSubjects({ cluster, name, signing = name }: Permitted, store: Store, access: Access): string[] {
  const { stream, content, below } = streamOf(cluster, store);
  const api = (...parts: string[]) => ['$JS.API', ...parts].join('.');
  const look = [api('STREAM.INFO', stream), api('STREAM.MSG.GET', stream)];
  const create = api('STREAM.CREATE', stream);
  const read = [
    api('DIRECT.GET', stream),
    api('DIRECT.GET', stream, '>'),
    api('CONSUMER.CREATE', stream),
    api('CONSUMER.CREATE', stream, '>'),
    api('CONSUMER.INFO', stream, '*'),
    api('CONSUMER.DELETE', stream, '*'),
    api('CONSUMER.MSG.NEXT', stream, '*'),
    `$JS.ACK.${stream}.>`,
    `$JS.FC.${stream}.>`,
  ];
  const write = [content, create, ...REMOVALS[STORES[store]].map((kind) => api(kind, stream))];
  const more = { look: [], write: [...read, ...write], append: [`${below}.${signing}`, create] };
  return [...look, ...more[access]];
}

/** Objects are removed by purging their parts; from the others nobody removes anything but by writing. */
const REMOVALS = { kv: [], objects: ['STREAM.PURGE'], stream: [] } as const;

/** The stream of a store, and the subjects of its content. */
function streamOf(cluster: string, store: Store): { stream: string; content: string; below: string } {
  const name = storeName(cluster, store);
  const of = (stream: string, below: string) => ({ stream, below, content: `${below}.>` });
  return {
    kv: of(`KV_${name}`, `$KV.${name}`),
    objects: of(`OBJ_${name}`, `$O.${name}`),
    stream: of(name, `pungi.${cluster}.${store}`),
  }[STORES[store]];
}
