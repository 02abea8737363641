import { durationText } from '@pungi/core/base';
import type { Counts, Failure, TestResult, TestStatus } from '@pungi/core/contract';
import type { Bounds } from '../bounded-text.js';
import {
  attemptNote,
  type Evidence,
  exchangeOf,
  findingOf,
  firstOf,
  MOST_FINDINGS,
  measuresOf,
  shownLine,
  titleOf,
} from '../evidence.js';

const SIGNS = { passed: '✓', failed: '✗', skipped: '○' };

interface Row {
  result: TestResult;
  anchor: string;
  /** Undefined: requests and answers are not shown. */
  bounds: Bounds | undefined;
}

/** A test on a line that can be expanded. Failed tests start expanded. */
export function testRow({ result, anchor, bounds }: Row): Markup {
  const { status } = result;
  const inner = bounds === undefined ? [] : bodyOf(result, bounds);
  const line = lineOf(result);
  const kind = `test ${status}${result.advisories.length > 0 ? ' advised' : ''}`;
  if (inner.length === 0)
    return html`<div class="${kind}" id="${anchor}"><div class="line">${line}</div></div>`;
  const open = status === 'failed' ? html` open` : undefined;
  return html`<details class="${kind}" id="${anchor}"${open}><summary class="line">${line}</summary><div class="body">${inner}</div></details>`;
}

function lineOf(result: TestResult): Markup {
  const { kind, target, status, durationMs, tags, reason, advisories } = result;
  const advised = advisories.length === 0 ? undefined : `${advisories.length} advised`;
  const heed = [reason && shownLine(reason), attemptNote(result), advised].filter(
    (note) => note !== undefined,
  );
  const time = status === 'skipped' ? '' : durationText(durationMs);
  return html`<span class="sign" role="img" aria-label="${status}">${SIGNS[status]}</span><span class="name"><span class="target"><span class="kind">${kind}</span> ${shownLine(target)}</span> <span class="title">${shownLine(titleOf(result))}</span>${tags.slice(0, 12).map((tag) => html` <span class="tag">${shownLine(tag, 60)}</span>`)}${heed.map((note) => html` <span class="note heed">${note}</span>`)}${measuresOf(result).map((measure) => html` <span class="note">${measure}</span>`)}</span><span class="time">${time}</span>`;
}

function bodyOf(result: TestResult, bounds: Bounds): Markup[] {
  const blocks: Markup[] = [];
  if (result.description !== undefined) {
    blocks.push(html`<p class="description">${shownLine(result.description, bounds.chars)}</p>`);
  }
  const [failures, left] = firstOf(result.failures, MOST_FINDINGS);
  blocks.push(...failures.map((failure) => findingBlock(failure, bounds, 'failure')));
  if (left > 0) blocks.push(html`<p>${left} more findings.</p>`);
  const [advisories] = firstOf(result.advisories, MOST_FINDINGS);
  blocks.push(...advisories.map((advisory) => findingBlock(advisory, bounds, 'advisory')));
  const shown = exchangeOf(result, bounds);
  if (shown.length > 0) blocks.push(html`<div class="evidence">${shown.map(evidenceBlock)}</div>`);
  return blocks;
}

function findingBlock(failure: Failure, bounds: Bounds, sort: 'failure' | 'advisory'): Markup {
  const { kind, message, source, evidence } = findingOf(failure, bounds);
  const by = source === undefined ? undefined : html`<p class="source">found by ${source}</p>`;
  const shown =
    evidence.length === 0 ? undefined : html`<div class="evidence">${evidence.map(evidenceBlock)}</div>`;
  return html`<div class="finding ${sort}"><p class="message"><span class="tag">${sort === 'advisory' ? 'advice' : kind}</span> ${message}</p>${by}${shown}</div>`;
}

/** `tabindex` makes a scrolling block reachable by keyboard. */
function evidenceBlock({ label, form, text }: Evidence): Markup {
  const content = form === 'diff' ? text.split('\n').map(diffLine) : text;
  return html`<figure class="${form}"><figcaption>${label}</figcaption><pre tabindex="0">${content}</pre></figure>`;
}

function diffLine(line: string): Markup {
  if (line.startsWith('-')) return html`<del>${line}</del>`;
  return line.startsWith('+') ? html`<ins>${line}</ins>` : html`<span>${line}</span>`;
}

const ORDER: readonly TestStatus[] = ['passed', 'failed', 'skipped'];

/** Passed, failed and skipped tests as parts of a ring. */
export function statusChart(counts: Counts): Markup {
  const all = Math.max(1, counts.total);
  let before = 0;
  const arcs = ORDER.filter((status) => counts[status] > 0).map((status) => {
    const share = (counts[status] / all) * 100;
    const arc = html`<circle class="arc ${status}" cx="60" cy="60" r="48" pathLength="100" stroke-dasharray="${share} ${100 - share}" stroke-dashoffset="${-before}" transform="rotate(-90 60 60)"/>`;
    before += share;
    return arc;
  });
  const label = ORDER.map((status) => `${counts[status]} ${status}`).join(', ');
  const judged = counts.passed + counts.failed;
  const percent = judged === 0 ? '–' : `${Math.floor((counts.passed / judged) * 100)}%`;
  return html`<figure class="card status"><figcaption>Results</figcaption>
<svg viewBox="0 0 120 120" role="img" aria-label="${label}"><circle class="arc none" cx="60" cy="60" r="48"/>${arcs}<text x="60" y="62" class="percent">${percent}</text><text x="60" y="80" class="unit">passed</text></svg>
<ul class="legend">${ORDER.map((status) => html`<li class="${status}"><b>${counts[status]}</b> ${status}</li>`)}</ul></figure>`;
}

const LIMITS_MS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000];
const FEWEST_BARS = 6;
const HEIGHT = 90;
const STEP = 44;

const limitText = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);

/**
 * A histogram of durations. The steps grow threefold: servers answer in one millisecond or in ten seconds.
 */
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
  const label = bars.map(({ label: range, passed, failed }) => `${range}: ${passed + failed}`).join(', ');
  return html`<figure class="card durations"><figcaption>Durations</figcaption>
<svg viewBox="0 0 ${width} ${HEIGHT + 36}" role="img" aria-label="Tests by duration. ${label}"><line x1="0" x2="${width}" y1="${HEIGHT + 14.5}" y2="${HEIGHT + 14.5}" class="base"/>${drawn}</svg></figure>`;
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

/** The slowest tests, each linked to its place in the page. */
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

/** Markup that this program wrote. Everything else in a page is text, and escaped. */
export class Markup {
  constructor(readonly text: string) {}
}

type Content = Markup | string | number | undefined | readonly Content[];

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one]!);

/** A template whose values are escaped, unless they are Markup. Attributes are always quoted. */
export const html = (parts: TemplateStringsArray, ...values: readonly Content[]): Markup =>
  new Markup(parts.map((part, index) => part + rendered(values[index])).join(''));

function rendered(value: Content): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(rendered).join('');
  return escaped(String(value));
}
