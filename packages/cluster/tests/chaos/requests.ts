import { sha256 } from '../../../core/src/base/sha256.js';
import type { RunRequest } from '../../../core/src/contract/run.js';

/** One request, or the requests of a session, which follow each other. */
export interface Plan {
  kind: string;
  request: RunRequest;
  /** What it prints if it ends well. */
  prints: string;
  /** Nobody waits for it; its outcome is fetched. */
  inBackground?: true;
  /** It is cancelled after this time. */
  cancelAfterMs?: number;
  /** How many requests follow in its session. */
  calls?: number;
}

type Make = (id: string, random: () => number) => Omit<Plan, 'kind'>;

/** A worker is waited for so long at most, and code runs so long at most. */
const TIMEOUT_MS = 10_000;
const LARGE = 'x'.repeat(700_000);

const below = (random: () => number, most: number) => Math.floor(random() * most);
const request = (code: string, more: Partial<RunRequest> = {}): RunRequest => ({
  code,
  limits: { timeoutMs: TIMEOUT_MS },
  ...more,
});
const sleeping = (id: string, ms: number) => `import time\ntime.sleep(${ms / 1000})\nprint("${id}")`;

/** The mixture: each kind with its share. */
const KINDS: Record<string, { share: number; make: Make }> = {
  print: { share: 40, make: (id) => ({ request: request(`print("${id}")`), prints: `${id}\n` }) },
  sleep: {
    share: 18,
    make: (id, random) => ({ request: request(sleeping(id, below(random, 300))), prints: `${id}\n` }),
  },
  burst: {
    share: 8,
    make: (id, random) => {
      const lines = 200 + below(random, 2000);
      return {
        request: request(`for n in range(${lines}): print("${id}", n, flush=n % 100 == 0)`),
        prints: Array.from({ length: lines }, (_, n) => `${id} ${n}\n`).join(''),
      };
    },
  },
  failing: { share: 5, make: (id) => ({ request: request(`raise ValueError("${id}")`), prints: '' }) },
  exiting: { share: 4, make: (id) => ({ request: request(`raise SystemExit(3)  # ${id}`), prints: '' }) },
  timeout: {
    share: 3,
    make: (id) => ({
      request: request(sleeping(id, 30_000), { limits: { timeoutMs: 400 } }),
      prints: `${id}\n`,
    }),
  },
  cancel: {
    share: 6,
    make: (id, random) => ({
      request: request(sleeping(id, 30_000)),
      prints: `${id}\n`,
      cancelAfterMs: below(random, 300),
    }),
  },
  session: {
    share: 6,
    make: (id, random) => ({
      request: request(`x = 0\nprint(x)  # ${id}`, { session: 'new' }),
      prints: '0\n',
      calls: 2 + below(random, 4),
    }),
  },
  background: {
    share: 5,
    make: (id, random) => ({
      request: request(sleeping(id, below(random, 300)), { retry: random() < 0.3 }),
      prints: `${id}\n`,
      inBackground: true,
    }),
  },
  'background-cancel': {
    share: 2,
    make: (id, random) => ({
      request: request(sleeping(id, 30_000)),
      prints: `${id}\n`,
      inBackground: true,
      cancelAfterMs: below(random, 300),
    }),
  },
  large: {
    share: 2,
    make: (id) => ({
      request: request(`import sys\nprint("${id}", len(sys.stdin.read()))`, { stdin: LARGE }),
      prints: `${id} ${LARGE.length}\n`,
    }),
  },
  retry: {
    share: 8,
    make: (id, random) => ({
      request: request(sleeping(id, below(random, 500)), { retry: true }),
      prints: `${id}\n`,
    }),
  },
};

/** The next plan of a seed. */
export function planOf(id: string, random: () => number): Plan {
  const all = Object.entries(KINDS);
  let left = random() * all.reduce((sum, [, { share }]) => sum + share, 0);
  for (const [kind, { share, make }] of all) {
    left -= share;
    if (left < 0) return { kind, ...make(id, random) };
  }
  throw new Error('the shares do not add up');
}

/** A plan for a front end that is killed: one request, which nobody cancels. */
export function onePlanOf(id: string, random: () => number): Plan {
  for (;;) {
    const plan = planOf(id, random);
    if (plan.calls === undefined && plan.cancelAfterMs === undefined) return plan;
  }
}

/** It ends with its front end. */
export const endlessPlanOf = (id: string): Plan => ({
  kind: 'endless',
  request: request(sleeping(id, 900_000), { limits: { timeoutMs: 900_000 } }),
  prints: `${id}\n`,
});

/** A call in the session of a plan: its number proves that none before it was forgotten. */
export const callOf = (id: string, session: string, count: number): Plan => ({
  kind: 'call',
  request: request(`x += 1\nprint(x)  # ${id}`, { session }),
  prints: `${count}\n`,
});

/** As the trails have it. */
export const hashOf = (text: string): string | undefined => (text === '' ? undefined : sha256(text));
