/** What the page can do beyond showing: search, open and close all, and lead to a test that a link names. */
export const SCRIPT = `'use strict';
document.documentElement.classList.add('scripted');
const tests = [...document.querySelectorAll('.test')];
const suites = [...document.querySelectorAll('.suite')];
const search = document.getElementById('search');
const words = new Map();
const wordsOf = (test) => {
  if (!words.has(test)) words.set(test, test.textContent.toLowerCase());
  return words.get(test);
};
function apply() {
  const status = document.querySelector('input[name=show]:checked').id.slice('show-'.length);
  const sought = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  for (const test of tests) {
    const fits = status === 'all' || test.classList.contains(status);
    const found = sought.every((word) => wordsOf(test).includes(word));
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
