import { createHash } from 'node:crypto';
import { durationText } from '@pungi/core/base';
import type { SuiteReport, TestReport, TestResult } from '@pungi/core/contract';
import type { Bounds } from '../bounded-text.js';
import { countResults, headline, resultsOf, shownLine, verdictOf } from '../evidence.js';

import { SCRIPT, STYLE } from './assets.js';
import { durationChart, html, Markup, slowestChart, statusChart, testRow } from './parts.js';

/** The total for all failures, so that a browser can still open the page. */
const CHARS_OF_FAILURES = 12_000_000;
const TEXTS_OF_A_TEST = 8;
const OF_PASSED: Bounds = { chars: 1500, lines: 40 };
/** Beyond this number, requests and answers of passed tests are only in the JSON report. */
const MOST_PASSED_SHOWN = 500;

/** Renders one self-contained page: no network, and a script only for search. */
export function htmlReport(report: TestReport): string {
  const located = resultsOf(report);
  const anchors = new Map(located.map(({ result }, index) => [result, `t${index + 1}`]));
  const numbered = located.map(({ result }) => ({ result, anchor: anchors.get(result)! }));
  const verdict = verdictOf(report);
  const sentence = headline(report);
  const boundsOf = boundsFor(located.map(({ result }) => result));
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '${digest(STYLE)}'; script-src '${digest(SCRIPT)}'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${verdict === 'failed' ? '✗' : '✓'} ${sentence}</title>
<link rel="icon" href="${icon(verdict === 'failed' ? '#df4650' : '#2fae66')}">
<style>${new Markup(STYLE)}</style>
</head>
<body>
<a class="skip" href="#tests">Skip to the tests</a>
<header class="${verdict}"><div class="inner"><p class="product">Pungi test report</p><h1>${sentence}</h1>
<p class="facts"><time datetime="${shownLine(report.startedAt)}">${dateText(report.startedAt)}</time>${[...new Set(report.suites.map(serverText))].slice(0, 5).map((text) => (text === '' ? undefined : html`<span>${text}</span>`))}</p></div></header>
<main>
<div class="charts">${statusChart(report.counts)}${durationChart(located.map(({ result }) => result))}${slowestChart(numbered)}</div>
${controls(report)}
<div id="tests">${report.suites.map((suite) => suiteSection(suite, (result) => testRow({ result, anchor: anchors.get(result)!, bounds: boundsOf(result) })))}</div>
<p id="none" hidden>No test matches.</p>
</main>
<script>${new Markup(SCRIPT)}</script>
</body>
</html>
`;
  return page.text;
}

function boundsFor(results: readonly TestResult[]): (result: TestResult) => Bounds | undefined {
  const { failed, total } = countResults(results);
  const share = CHARS_OF_FAILURES / Math.max(1, failed * TEXTS_OF_A_TEST);
  const ofFailed: Bounds = { chars: Math.round(Math.min(50_000, Math.max(1500, share))), lines: 1000 };
  return ({ status, advisories }) => {
    if (status === 'failed') return ofFailed;
    return total - failed <= MOST_PASSED_SHOWN || advisories.length > 0 ? OF_PASSED : undefined;
  };
}

/** Filtering uses only CSS, so it works without the script; searching needs it. */
function controls({ counts }: TestReport): Markup {
  const choice = (status: string, text: string, count: number) =>
    html`<input type="radio" name="show" id="show-${status}"${status === 'all' ? html` checked` : undefined}><label for="show-${status}">${text} <b>${count}</b></label>`;
  return html`<div class="controls"><fieldset><legend>Show</legend>${choice('all', 'All', counts.total)}${choice('failed', 'Failed', counts.failed)}${choice('passed', 'Passed', counts.passed)}${choice('skipped', 'Skipped', counts.skipped)}</fieldset>
<span class="scripted"><input type="search" id="search" placeholder="Search names, tags, messages, answers" aria-label="Search in tests" aria-keyshortcuts="/" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd></span>
<span class="scripted buttons"><button type="button" id="open">Open all</button><button type="button" id="close">Close all</button></span>
<output id="shown" class="scripted" aria-live="polite"></output></div>`;
}

function suiteSection(suite: SuiteReport, row: (result: TestResult) => Markup): Markup {
  const { passed, failed, skipped } = countResults(suite.results);
  const facts = [shownLine(suite.file), serverText(suite), durationText(suite.durationMs)].filter(
    (text) => text !== '',
  );
  const counts = [
    failed > 0 ? html`<span class="failed">${failed} failed</span>` : undefined,
    passed > 0 ? html`<span class="passed">${passed} passed</span>` : undefined,
    skipped > 0 ? html`<span class="skipped">${skipped} skipped</span>` : undefined,
  ];
  const problem =
    suite.problem === undefined ? undefined : html`<p class="problem">${shownLine(suite.problem, 5000)}</p>`;
  const warnings = (suite.warnings ?? []).map(
    (warning) => html`<p class="warning">warning: ${shownLine(warning, 1000)}</p>`,
  );
  return html`<section class="suite"><div class="head"><h2>${shownLine(suite.name)}</h2><p class="counts">${counts}</p></div><p class="facts">${facts.map((text) => html`<span>${text}</span>`)}</p>${problem}${warnings}${failedFirst(suite.results).map(row)}</section>
`;
}

const failedFirst = (results: readonly TestResult[]): TestResult[] => [
  ...results.filter(({ status }) => status === 'failed'),
  ...results.filter(({ status }) => status !== 'failed'),
];

const serverText = ({ server }: SuiteReport): string =>
  server === null
    ? ''
    : `${shownLine(server.name, 100)} ${shownLine(server.version, 60)} · MCP ${shownLine(server.protocol, 60)}`;

/** In UTC: a report may be read in another time zone. */
function dateText(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return shownLine(iso);
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

const digest = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** Embedded, or a browser would request one from a server. */
const icon = (colour: string): string =>
  `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${colour}"/></svg>`)}`;
