import { durationText } from '../../../base/terminal/amounts.js';
import type { Failure, TestResult } from '../../../contract/test-report.js';
import type { Bounds } from '../bounded-text.js';
import {
  attemptNote,
  circumstancesOf,
  type Evidence,
  findingOf,
  measuresOf,
  shownLine,
} from '../evidence.js';
import { firstOf, MOST_FINDINGS } from '../plain-text.js';
import { titleOf } from '../verdict.js';
import { html, type Markup } from './markup.js';

const SIGNS = { passed: '✓', failed: '✗', skipped: '○' };

export interface Row {
  result: TestResult;
  anchor: string;
  /** Nothing is shown of what was sent and received where there are none. */
  bounds: Bounds | undefined;
}

/** A test in a line that opens. What failed is open: it is what somebody came for. */
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
  if (left > 0) blocks.push(html`<p>${left} more were found.</p>`);
  const [advisories] = firstOf(result.advisories, MOST_FINDINGS);
  blocks.push(...advisories.map((advisory) => findingBlock(advisory, bounds, 'advisory')));
  const shown = circumstancesOf(result, bounds);
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

/** A block that may scroll can be reached by the keyboard. */
function evidenceBlock({ label, form, text }: Evidence): Markup {
  const content = form === 'diff' ? text.split('\n').map(diffLine) : text;
  return html`<figure class="${form}"><figcaption>${label}</figcaption><pre tabindex="0">${content}</pre></figure>`;
}

function diffLine(line: string): Markup {
  if (line.startsWith('-')) return html`<del>${line}</del>`;
  return line.startsWith('+') ? html`<ins>${line}</ins>` : html`<span>${line}</span>`;
}
