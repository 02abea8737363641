import { durationText } from '../../../base/terminal/amounts.js';
import type { Counts, TestResult, TestStatus } from '../../../contract/test-report.js';
import { shownLine } from '../evidence.js';
import { html, type Markup } from './markup.js';

const ORDER: readonly TestStatus[] = ['passed', 'failed', 'skipped'];

/** How many passed, failed and were skipped, as parts of a ring. */
export function statusChart(counts: Counts): Markup {
  const all = Math.max(1, counts.total);
  let before = 0;
  const arcs = ORDER.filter((status) => counts[status] > 0).map((status) => {
    const share = (counts[status] / all) * 100;
    const arc = html`<circle class="arc ${status}" cx="60" cy="60" r="48" pathLength="100" stroke-dasharray="${share} ${100 - share}" stroke-dashoffset="${-before}" transform="rotate(-90 60 60)"/>`;
    before += share;
    return arc;
  });
  const words = ORDER.map((status) => `${counts[status]} ${status}`).join(', ');
  const judged = counts.passed + counts.failed;
  const percent = judged === 0 ? '–' : `${Math.floor((counts.passed / judged) * 100)}%`;
  return html`<figure class="card status"><figcaption>Results</figcaption>
<svg viewBox="0 0 120 120" role="img" aria-label="${words}"><circle class="arc none" cx="60" cy="60" r="48"/>${arcs}<text x="60" y="62" class="percent">${percent}</text><text x="60" y="80" class="unit">passed</text></svg>
<ul class="legend">${ORDER.map((status) => html`<li class="${status}"><b>${counts[status]}</b> ${status}</li>`)}</ul></figure>`;
}

const LIMITS_MS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000];
const FEWEST_BARS = 6;
const HEIGHT = 90;
const STEP = 44;

const limitText = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);

/** How many tests took how long. The steps grow threefold: a server answers in one millisecond or in ten seconds. */
export function durationChart(results: readonly TestResult[]): Markup {
  const bars = bucketsOf(results);
  const most = Math.max(1, ...bars.map(({ passed, failed }) => passed + failed));
  const scale = (count: number) => (count / most) * HEIGHT;
  const width = bars.length * STEP;
  const drawn = bars.map(({ label, passed, failed }, index) => {
    const x = index * STEP;
    const top = HEIGHT - scale(passed + failed) + 14;
    const count = passed + failed;
    return html`<g><title>${label}: ${count}</title><rect class="failed" x="${x + 5}" y="${top}" width="${STEP - 10}" height="${scale(failed)}"/><rect class="passed" x="${x + 5}" y="${top + scale(failed)}" width="${STEP - 10}" height="${scale(passed)}"/>${count > 0 ? html`<text x="${x + STEP / 2}" y="${top - 4}" class="count">${count}</text>` : undefined}<text x="${x + STEP / 2}" y="${HEIGHT + 30}" class="axis">${label}</text></g>`;
  });
  const words = bars.map(({ label, passed, failed }) => `${label}: ${passed + failed}`).join(', ');
  return html`<figure class="card durations"><figcaption>How long tests took</figcaption>
<svg viewBox="0 0 ${width} ${HEIGHT + 36}" role="img" aria-label="Tests by duration. ${words}"><line x1="0" x2="${width}" y1="${HEIGHT + 14.5}" y2="${HEIGHT + 14.5}" class="base"/>${drawn}</svg></figure>`;
}

function bucketsOf(results: readonly TestResult[]) {
  const buckets = [...LIMITS_MS, Number.POSITIVE_INFINITY].map((limit) => {
    const last = limit === Number.POSITIVE_INFINITY;
    const label = last ? `≥${limitText(LIMITS_MS.at(-1)!)}` : `<${limitText(limit)}`;
    return { limit, label, passed: 0, failed: 0 };
  });
  for (const { status, durationMs } of results) {
    if (status !== 'skipped') buckets.find(({ limit }) => durationMs < limit)![status] += 1;
  }
  const used = (bucket: { passed: number; failed: number }) => bucket.passed + bucket.failed > 0;
  const last = Math.max(buckets.findLastIndex(used), FEWEST_BARS - 1);
  const first = Math.min(Math.max(0, buckets.findIndex(used)), last - FEWEST_BARS + 1);
  return buckets.slice(first, last + 1);
}

const MOST_SLOW = 6;

/** The tests that took longest, each a link to its place in the page. */
export function slowestChart(numbered: readonly { result: TestResult; anchor: string }[]): Markup {
  const slowest = numbered
    .filter(({ result }) => result.status !== 'skipped')
    .toSorted((one, other) => other.result.durationMs - one.result.durationMs)
    .slice(0, MOST_SLOW);
  const most = Math.max(1e-9, slowest[0]?.result.durationMs ?? 0);
  const items = slowest.map(({ result, anchor }) => {
    const width = Math.max(0.5, (result.durationMs / most) * 100);
    return html`<li><a href="#${anchor}">${shownLine(result.id)}</a><span class="time">${durationText(result.durationMs)}</span><svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="${result.status}" width="${width}" height="4"/></svg></li>`;
  });
  return html`<section class="card slowest" aria-label="Slowest tests"><h2>Slowest</h2><ol>${items}</ol></section>`;
}
