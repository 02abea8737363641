/**
 * The subjects of a cluster. NATS permissions are written in terms of them: a worker publishes to `beat.OWN`, `free` and
 * `reply.>`, and subscribes to `offer.>`, `change`, `front.>` and `worker.OWN.>`. It reads the bucket of environments.
 */
export interface Subjects {
  /** The name of the cluster. */
  cluster: string;
  /** An offer to the workers that hold the generation, or to any. Workers form one queue group on each. */
  offer(place: OfferPlace): string;
  /** The orders for one start of a worker: a worker that was restarted gets none of its predecessor's. */
  orders(worker: WorkerKey): string;
  order(worker: WorkerKey, kind: OrderKind | OperatorOrder): string;
  /** The heartbeats of a worker. */
  beat(worker: string): string;
  beats: string;
  /** The heartbeats of a front end. */
  front(front: string): string;
  fronts: string;
  /** Requests to make or change an environment. Workers form one queue group. */
  change: string;
  /** Published by a worker that was full and has a free slot. */
  free: string;
  /** The answers to a front end. The token is known only to whoever got the request. */
  reply(front: string, token: string): string;
  replies(front: string): string;
  /** The heads of a front end's audit trail, in the stream `checkpoints`. `key`: the public key that it signs with. */
  checkpoint(key: string): string;
  checkpoints: string;
  /** Requests of operators for the audit trail of a front end. */
  trail(key: string): string;
  /** The answers to them. */
  entries(token: string): string;
}

export interface OfferPlace {
  /** The generation that must be warm, or ANY. */
  generation: string;
  /** An architecture, or ANY. */
  arch: string;
  /** What `needToken` returns. */
  need: string;
}

/** One start of a worker. */
export interface WorkerKey {
  worker: string;
  incarnation: string;
}

export const ORDERS = [
  'hold',
  'go',
  'cancel',
  'ack',
  'copy',
  'release',
  'change',
  'poll',
  'dismiss',
  'usage',
] as const;
export type OrderKind = (typeof ORDERS)[number];
/** Orders to the worker itself, of a front end or an operator. */
export const OPERATOR_ORDERS = ['cordon', 'uncordon', 'drain'] as const;
export type OperatorOrder = (typeof OPERATOR_ORDERS)[number];

export const ANY = 'any';
/** The queue group of workers. */
export const QUEUE = 'workers';
/** More labels would need too many subscriptions, one for each set of them. */
export const MOST_LABELS = 5;

const TOKEN = /^[A-Za-z0-9_-]{1,64}$/;
/** Whether a text can be a part of a subject. */
export const isToken = (text: string): boolean => TOKEN.test(text);

export const keyOf = ({ worker, incarnation }: WorkerKey): string => `${worker}.${incarnation}`;

export function subjectsOf(cluster: string): Subjects {
  const below = (...parts: string[]) => ['pungi', cluster, ...parts].join('.');
  const orders = ({ worker, incarnation }: WorkerKey, kind: string) =>
    below('worker', worker, incarnation, kind);
  return {
    cluster,
    offer: ({ generation, arch, need }) => below('offer', generation, arch, need),
    orders: (worker) => orders(worker, '*'),
    order: orders,
    beat: (worker) => below('beat', worker),
    beats: below('beat', '*'),
    front: (front) => below('front', front),
    fronts: below('front', '*'),
    change: below('change'),
    free: below('free'),
    reply: (front, token) => below('reply', front, token),
    replies: (front) => below('reply', front, '*'),
    checkpoint: (key) => below('checkpoints', key),
    checkpoints: below('checkpoints', '*'),
    trail: (key) => below('trail', key),
    entries: (token) => below('entries', token),
  };
}

export type Labels = Readonly<Record<string, string>>;

/** The token of the labels that a run needs: the same for the same labels. */
export function needToken(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? ANY : Buffer.from(pairs.sort().join(',')).toString('base64url');
}

/** The label that every worker has by itself: the architecture of its machine, such as x64 or arm64. No worker may set it. */
export const ARCH = 'arch';

/** Whether a worker has what is needed. */
export const meets = (worker: { arch: string; labels: Labels }, needed: Labels): boolean =>
  Object.entries(needed).every(
    ([name, value]) => (name === ARCH ? worker.arch : worker.labels[name]) === value,
  );

/** Returns the tokens of the subjects on which workers that have what is needed take offers. */
export function placeOf({ [ARCH]: arch = ANY, ...labels }: Labels): Omit<OfferPlace, 'generation'> {
  return { arch, need: needToken(labels) };
}

/** The tokens of every need that a worker with these labels meets. */
export function needTokens(labels: Labels): string[] {
  let sets: [string, string][][] = [[]];
  for (const label of Object.entries(labels)) sets = [...sets, ...sets.map((set) => [...set, label])];
  return sets.map((set) => needToken(Object.fromEntries(set)));
}
