import { inboxPrefixOf, type Member, type Role } from '../credentials.js';
import { STORES, type Store, storeName } from '../protocol/stores.js';
import { OPERATOR_ORDERS, ORDERS, QUEUE, subjectsOf } from '../protocol/subjects.js';

/** The subjects that a NATS user may use. A subscription with a queue group is written "SUBJECT GROUP". */
export interface Permissions {
  publish: string[];
  subscribe: string[];
}

/**
 * `look`: gets single messages, wrapped by the server. `read`: also as they are, and through consumers. `write`: also creates the
 * store. Whoever may read can let the server publish what was stored on any subject, in the name of anybody, because the server
 * does not check where it sends its answers; so workers only look.
 */
type Access = 'look' | 'read' | 'write';

/** Who may do what with the stores; nothing else. */
export const STORE_ACCESS: Record<Role, Partial<Record<Store, Access>>> = {
  front: {
    environments: 'write',
    leases: 'write',
    profiles: 'read',
    outcomes: 'write',
    inputs: 'write',
    wheels: 'write',
    background: 'write',
    checkpoints: 'write',
  },
  worker: { environments: 'look', inputs: 'look', wheels: 'look' },
  operator: { environments: 'look', background: 'look', checkpoints: 'read' },
  owner: { profiles: 'write' },
};

/** Everything that a member may do in its cluster. */
export function permissionsOf({ cluster, role, name }: Member): Permissions {
  const { publish, subscribe } = coreSubjects(cluster, name)[role];
  const accesses = Object.entries(STORE_ACCESS[role]) as [Store, Access][];
  const stores = accesses.flatMap(([store, access]) => storeSubjects(cluster, store, access));
  return {
    publish: [...publish, '$JS.API.INFO', ...stores],
    subscribe: [...subscribe, `${inboxPrefixOf({ name })}.>`],
  };
}

/** Without JetStream. */
function coreSubjects(cluster: string, name: string): Record<Role, Permissions> {
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
      ],
      subscribe: [subjects.beats, subjects.free, subjects.replies('*')],
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
      publish: OPERATOR_ORDERS.map((kind) => subjects.order(anyWorker, kind)),
      subscribe: [subjects.beats, subjects.fronts, subjects.replies(name)],
    },
    owner: { publish: [], subscribe: [] },
  };
}

/** What is published for an access: requests to JetStream, and the content itself. */
function storeSubjects(cluster: string, store: Store, access: Access): string[] {
  const { stream, content } = streamOf(cluster, store);
  const api = (...parts: string[]) => ['$JS.API', ...parts].join('.');
  const look = [api('STREAM.INFO', stream), api('STREAM.MSG.GET', stream)];
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
  const write = [
    content,
    api('STREAM.CREATE', stream),
    ...REMOVALS[STORES[store]].map((kind) => api(kind, stream)),
  ];
  return [...look, ...(access === 'look' ? [] : read), ...(access === 'write' ? write : [])];
}

/** Objects are removed by purging their parts; from the others nobody removes anything but by writing. */
const REMOVALS = { kv: [], objects: ['STREAM.PURGE'], stream: [] } as const;

/** The stream of a store, and the subjects of its content. */
function streamOf(cluster: string, store: Store): { stream: string; content: string } {
  const name = storeName(cluster, store);
  return {
    kv: { stream: `KV_${name}`, content: `$KV.${name}.>` },
    objects: { stream: `OBJ_${name}`, content: `$O.${name}.>` },
    stream: { stream: name, content: `pungi.${cluster}.${store}.>` },
  }[STORES[store]];
}
