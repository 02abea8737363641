const LIGHT = `
  --paper: #f5f6f8; --card: #ffffff; --ink: #1b1f27; --soft: #5b6472; --line: #dfe3e9; --well: #f4f5f8;
  --passed: #14763d; --failed: #c52632; --skipped: #8a6a00; --passed-mark: #2fae66; --failed-mark: #df4650;
  --skipped-mark: #d9a916; --plus: #e3f6ea; --minus: #fde8e9; --plus-ink: #0f6133; --minus-ink: #9a1c26; --link: #2457c5;`;

const DARK = `
  --paper: #14171c; --card: #1c2027; --ink: #e6e9ee; --soft: #9aa4b2; --line: #2e343e; --well: #15181d;
  --passed: #4cc482; --failed: #ff7a82; --skipped: #e0b83f; --passed-mark: #2f9f60; --failed-mark: #dc4b55;
  --skipped-mark: #b98f1b; --plus: #12301f; --minus: #3a1a1e; --plus-ink: #86e0ac; --minus-ink: #ffa3a9; --link: #8fb4ff;`;

/** No attribute contains style: the page's security policy would refuse it. */
export const STYLE = `:root {${LIGHT} color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root {${DARK} } }
* { box-sizing: border-box; }
[hidden], html:not(.scripted) .scripted { display: none !important; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--card); padding: 6px 12px; }
h1, h2, p, figure, ol, ul, fieldset { margin: 0; padding: 0; border: 0; }
main, .inner { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
main { padding-bottom: 64px; }
header { background: var(--card); border-bottom: 1px solid var(--line); border-top: 6px solid var(--skipped-mark); padding: 20px 0 18px; }
header.passed { border-top-color: var(--passed-mark); }
header.failed { border-top-color: var(--failed-mark); }
h1 { font-size: 26px; line-height: 1.25; letter-spacing: -0.01em; }
header.passed h1 { color: var(--passed); }
header.failed h1 { color: var(--failed); }
.product { color: var(--soft); font-size: 13px; margin-bottom: 2px; }
.facts { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
.facts > * + *::before { content: "·"; margin: 0 8px; }
.charts { display: grid; grid-template-columns: 200px minmax(300px, 1.2fr) minmax(280px, 1fr); gap: 16px; margin: 20px 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; min-width: 0; }
.card > figcaption, .card h2 { font-size: 13px; font-weight: 600; color: var(--soft); margin-bottom: 8px; }
.card svg { display: block; width: 100%; }
.status svg { max-width: 116px; margin: 0 auto 8px; }
.arc { fill: none; stroke-width: 14; }
.arc.none { stroke: var(--line); }
.arc.passed { stroke: var(--passed-mark); }
.arc.failed { stroke: var(--failed-mark); }
.arc.skipped { stroke: var(--skipped-mark); }
svg text { fill: var(--soft); text-anchor: middle; font-size: 9.5px; }
svg .percent { fill: var(--ink); font-size: 23px; font-weight: 650; }
svg .unit { font-size: 11px; }
svg .axis { font-size: 8.5px; }
svg .count { fill: var(--ink); font-weight: 600; }
svg .base { stroke: var(--line); }
rect.passed { fill: var(--passed-mark); }
rect.failed { fill: var(--failed-mark); }
.legend { list-style: none; display: flex; flex-wrap: wrap; justify-content: center; gap: 0 12px; font-size: 12.5px; color: var(--soft); }
.legend .passed b, .counts .passed { color: var(--passed); }
.legend .failed b, .counts .failed { color: var(--failed); }
.legend .skipped b, .counts .skipped { color: var(--skipped); }
.slowest ol { list-style: none; }
.slowest li { display: grid; grid-template-columns: 1fr auto; gap: 0 12px; font-size: 12.5px; margin-bottom: 5px; }
.slowest a { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: inherit; text-decoration-color: var(--line); }
.slowest svg { grid-column: 1 / -1; height: 4px; }
.time { color: var(--soft); font-variant-numeric: tabular-nums; white-space: nowrap; }
.controls { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: 10px 14px; align-items: center; padding: 10px 0; background: var(--paper); }
.controls fieldset { display: flex; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.controls legend { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
.controls [type=radio] { position: absolute; opacity: 0; }
.controls label { padding: 5px 12px; font-size: 13.5px; cursor: pointer; border-radius: 7px; }
.controls label b { font-weight: 600; color: var(--soft); }
.controls [type=radio]:checked + label { background: var(--ink); color: var(--card); }
.controls [type=radio]:checked + label b { color: inherit; }
.controls [type=radio]:focus-visible + label { outline: 2px solid var(--link); outline-offset: 1px; }
.controls .scripted:has([type=search]) { position: relative; flex: 1 1 240px; }
[type=search] { width: 100%; font: inherit; font-size: 14px; padding: 5px 34px 5px 12px; border: 1px solid var(--line); border-radius: 8px; background: var(--card); color: inherit; }
kbd { position: absolute; right: 9px; top: 6px; font: 12px/18px ui-monospace, monospace; color: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: 0 6px; }
[type=search]:focus + kbd { display: none; }
button { font: inherit; font-size: 13.5px; padding: 4px 12px; margin-left: 6px; border: 1px solid var(--line); border-radius: 8px; background: var(--card); color: inherit; cursor: pointer; }
button:hover, .line:hover { background: var(--well); }
#shown { font-size: 13px; color: var(--soft); }
.suite { margin-bottom: 28px; }
.suite > .head { display: flex; gap: 12px; align-items: baseline; margin-top: 14px; }
.suite h2 { font-size: 18px; overflow-wrap: anywhere; }
.suite > .facts { margin-bottom: 8px; }
.counts { font-size: 13.5px; font-weight: 600; white-space: nowrap; }
.counts span + span { margin-left: 10px; }
.problem { background: var(--minus); color: var(--minus-ink); border-radius: 8px; padding: 10px 14px; margin-bottom: 8px; overflow-wrap: anywhere; }
.test { background: var(--card); border: 1px solid var(--line); border-top-width: 0; }
.test:first-of-type, .facts + .test, .problem + .test { border-top-width: 1px; border-radius: 10px 10px 0 0; }
.test:last-child { border-radius: 0 0 10px 10px; }
.test:target { outline: 2px solid var(--link); outline-offset: -2px; }
.line { display: grid; grid-template-columns: 22px 1fr auto; gap: 10px; padding: 6px 14px; align-items: baseline; border-radius: inherit; }
summary.line { cursor: pointer; list-style: none; }
summary.line::-webkit-details-marker { display: none; }
.line .time { font-size: 13.5px; }
.line .time::after { content: ""; display: inline-block; width: 20px; text-align: right; }
summary.line .time::after { content: "▸"; }
[open] > summary.line .time::after { content: "▾"; }
.sign { font-weight: 700; text-align: center; }
.test.passed .sign { color: var(--passed); }
.test.failed .sign { color: var(--failed); }
.test.skipped .sign { color: var(--skipped); }
.name { min-width: 0; overflow-wrap: anywhere; }
.target { color: var(--soft); font: 13px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
.target::after { content: "›"; margin-left: 7px; }
.test.failed .title { font-weight: 600; }
.tag { display: inline-block; font-size: 11.5px; line-height: 17px; padding: 0 7px; border-radius: 9px; background: var(--well); color: var(--soft); border: 1px solid var(--line); }
.note { font-size: 12.5px; color: var(--soft); margin-left: 4px; }
.note.heed { color: var(--skipped); }
.body { padding: 4px 16px 16px 46px; }
.description { color: var(--soft); margin-bottom: 8px; overflow-wrap: anywhere; }
.finding { border-left: 3px solid var(--failed-mark); padding-left: 12px; margin-bottom: 14px; }
.finding.advisory { border-left-color: var(--skipped-mark); }
.message { font-weight: 550; white-space: pre-wrap; overflow-wrap: anywhere; }
.message .tag { vertical-align: 1px; }
.source { font-size: 13px; color: var(--soft); overflow-wrap: anywhere; }
.evidence { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 10px 14px; margin-top: 8px; }
.evidence > .diff, .evidence > .text, .evidence > :only-child { grid-column: 1 / -1; }
.evidence figcaption { font-size: 12px; color: var(--soft); margin-bottom: 2px; }
pre { margin: 0; padding: 9px 12px; background: var(--well); border: 1px solid var(--line); border-radius: 7px; font: 12.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; max-height: 420px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; tab-size: 4; }
.diff pre { padding: 6px 0; }
.diff pre > * { display: block; padding: 0 12px; text-decoration: none; min-height: 1.5em; }
.diff del { background: var(--minus); color: var(--minus-ink); }
.diff ins { background: var(--plus); color: var(--plus-ink); }
body:has(#show-failed:checked) .test:not(.failed), body:has(#show-passed:checked) .test:not(.passed), body:has(#show-skipped:checked) .test:not(.skipped) { display: none; }
#none { text-align: center; color: var(--soft); padding: 40px 0; }
@media (max-width: 900px) { .charts { grid-template-columns: 1fr; } .evidence { grid-template-columns: 1fr; } main, .inner { padding-inline: 14px; } .body { padding-left: 16px; } }
@media print { .controls, .skip { display: none; } body { background: #fff; } .test, .card { break-inside: avoid; } pre { max-height: none; } }
`;

/** The script of the page: search, open and close all, and jump to a linked test. */
export const SCRIPT = `'use strict';
document.documentElement.classList.add('scripted');
const tests = [...document.querySelectorAll('.test')];
const suites = [...document.querySelectorAll('.suite')];
const search = document.getElementById('search');
const texts = new Map();
const textOf = (test) => {
  if (!texts.has(test)) texts.set(test, test.textContent.toLowerCase());
  return texts.get(test);
};
function apply() {
  const status = document.querySelector('input[name=show]:checked').id.slice('show-'.length);
  const sought = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  for (const test of tests) {
    const fits = status === 'all' || test.classList.contains(status);
    const found = sought.every((word) => textOf(test).includes(word));
    test.hidden = !found;
    if (fits && found) shown += 1;
  }
  for (const suite of suites) {
    const filtered = status !== 'all' || sought.length > 0;
    const all = [...suite.querySelectorAll('.test')];
    suite.hidden = filtered && !all.some((test) => !test.hidden && (status === 'all' || test.classList.contains(status)));
  }
  document.getElementById('shown').value = shown === tests.length ? '' : shown + ' of ' + tests.length + ' shown';
  document.getElementById('none').hidden = shown > 0;
}
function toAll(open) {
  for (const test of tests) if ('open' in test && !test.hidden) test.open = open;
}
function follow() {
  const test = document.getElementById(location.hash.slice(1));
  if (!test || !test.classList.contains('test')) return;
  document.getElementById('show-all').checked = true;
  search.value = '';
  apply();
  test.open = true;
  test.scrollIntoView({ block: 'center' });
  (test.querySelector('summary') || test).focus({ preventScroll: true });
}
search.addEventListener('input', apply);
for (const choice of document.querySelectorAll('input[name=show]')) choice.addEventListener('change', apply);
document.getElementById('open').addEventListener('click', () => toAll(true));
document.getElementById('close').addEventListener('click', () => toAll(false));
addEventListener('hashchange', follow);
for (const link of document.querySelectorAll('.slowest a')) link.addEventListener('click', () => setTimeout(follow));
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/' && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
    search.select();
  } else if (event.key === 'Escape' && document.activeElement === search) {
    search.value = '';
    apply();
  }
});
apply();
follow();
`;
