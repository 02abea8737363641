import type { Answered, History, Requested, WorkerTrail } from './history.js';

type Entry = WorkerTrail['entries'][number];
type Started = Entry & { event: 'started' };
type Ended = Exclude<Entry, Started>;

/** A run is begun at most so often if its request has `retry: true` (core/src/engine/engine.ts). */
const MOST_STARTS = 3;

/** What the trails say about one request. */
interface Evidence {
  requested: Requested;
  answered: Answered;
  /** Of the run that the answer names. */
  start: Started | undefined;
  end: Ended | undefined;
  /** All starts of the request's code. */
  starts: readonly Started[];
}

/** Returns one sentence for each violation; none for a history that is right. */
export function check({ requested, answered, orphans, trails, left }: History): string[] {
  const entries = trails.flatMap(({ entries }) => entries);
  const starts = entries.filter((one): one is Started => one.event === 'started' && one.task === undefined);
  const byCode = groupBy(starts, ({ code }) => code);
  const byRun = groupBy(starts, ({ run }) => run);
  const ends = groupBy(
    entries.filter((one): one is Ended => one.event !== 'started'),
    ({ run }) => run,
  );
  const answers = groupBy(answered, ({ id }) => id);
  const known = new Set(requested.map(({ code }) => code));
  const unended = new Set(trails.flatMap(unendedIn));
  return [
    ...left.map((process) => `the process ${process} is left`),
    ...[...byRun].filter(([, all]) => all.length > 1).map(([run]) => `run ${run} was started twice`),
    ...[...byCode.keys()].filter((code) => !known.has(code)).map((code) => `nobody requested ${code}`),
    ...[...answers.keys()]
      .filter((id) => !requested.some((one) => one.id === id))
      .map((id) => `${id} was answered and not requested`),
    ...requested.flatMap((one) => {
      const all = answers.get(one.id) ?? [];
      const own = byCode.get(one.code) ?? [];
      const most = one.retry ? MOST_STARTS : 1;
      const often = own.length > most ? [`${one.id} was started ${own.length} times`] : [];
      if (orphans.includes(one.id))
        return [...often, ...own.filter((start) => unended.has(start)).map(() => `${one.id} was not ended`)];
      if (all.length !== 1) return [...often, `${one.id} was answered ${all.length} times`];
      const [answer] = all as [Answered];
      const start = byRun.get(answer.run)?.[0];
      const end = ends.get(answer.run)?.find((end) => start && isSameClaim(start, end));
      const wrong = judge({ requested: one, answered: answer, start, end, starts: own });
      return wrong === undefined ? often : [...often, `${one.id} (${nameOf(answer)}): ${wrong}`];
    }),
  ];
}

/** What was started and has no end, although its worker ended all that it had: its last start was not killed. */
function unendedIn({ entries }: WorkerTrail): Started[] {
  const last = entries.filter(({ incarnation }) => incarnation === entries.at(-1)!.incarnation);
  const ends = last.filter((one): one is Ended => one.event !== 'started');
  return last
    .filter((one): one is Started => one.event === 'started')
    .filter((start) => !ends.some((end) => end.run === start.run && isSameClaim(start, end)));
}

const isSameClaim = (start: Started, end: Ended) =>
  start.claim === end.claim && start.incarnation === end.incarnation;

const nameOf = ({ verdict: { kind, started } }: Answered) => (kind === 'lost' ? `lost, ${started}` : kind);

/** What each verdict promises. Returns what is not true. */
const PROMISES: Partial<Record<Answered['verdict']['kind'], (evidence: Evidence) => string | undefined>> = {
  ok: (evidence) => {
    const { requested, answered, end } = evidence;
    if (answered.stdout !== requested.stdout) return 'its output is not what its code prints';
    if (end !== undefined && end.stdout !== answered.stdout) return 'its worker saw other output';
    return ran(evidence, (end) => end.status === 0 && end.killedFor === null);
  },
  'python-error': (evidence) => ran(evidence, ({ killedFor }) => killedFor === null),
  exited: (evidence) => ran(evidence, ({ status, killedFor }) => status !== 0 && killedFor === null),
  'timed-out': (evidence) => ran(evidence, ({ killedFor }) => killedFor === 'timeout'),
  'output-exceeded': (evidence) => ran(evidence, ({ killedFor }) => killedFor === 'output'),
  cancelled: ({ requested }) => (requested.isCancelled ? undefined : 'nobody cancelled it'),
  busy: neverStarted,
  'no-session': (evidence) =>
    evidence.requested.inSession ? neverStarted(evidence) : 'it was in no session',
  lost: (evidence) => {
    const { started } = evidence.answered.verdict;
    if (started === true) return evidence.start ? undefined : 'no trail has its start';
    if (started === false) return neverStarted(evidence);
    return evidence.answered.wasDisturbed ? undefined : 'whether it had started was to be known';
  },
};

function judge(evidence: Evidence): string | undefined {
  const promise = PROMISES[evidence.answered.verdict.kind];
  return promise === undefined
    ? `no request should end so: ${evidence.answered.verdict.message}`
    : promise(evidence);
}

function ran({ start, end }: Evidence, agrees: (end: Ended) => boolean): string | undefined {
  if (start === undefined) return 'no trail has its start';
  if (end === undefined) return 'the trail with its start lacks its end';
  if (end.event === 'abandoned') return 'its worker abandoned it';
  return agrees(end) ? undefined : 'its worker saw another end';
}

/** A request that may be repeated can have started before, under another number. */
function neverStarted({ requested, start, starts }: Evidence): string | undefined {
  if (start !== undefined) return 'a trail has its start';
  return starts.length > 0 && !requested.retry ? 'a trail has a start of its code' : undefined;
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
