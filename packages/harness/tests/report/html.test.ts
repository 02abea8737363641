import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/places.js';
import { until } from '../../../../tests/support/until.js';
import type { TestReport } from '../../../core/src/contract/test-report.js';
import { htmlReport } from '../../src/report/html/page.js';
import { Browser, type Page } from './browser.js';
import { deepValue, hostileReport, MEGABYTE } from './hostile.js';
import { everydayReport, passedReport, report, suite, testResult } from './sample.js';

const folder = temporaryFolder();
const browser = await Browser.open();
if (browser === undefined)
  console.warn('There is no browser here: the page of a report is not tested in one.');
afterAll(() => browser?.close());

let written = 0;
/** The report's page in a tab of its own. */
async function show(given: TestReport, { before, hash = '' }: Showing = {}): Promise<Page & { url: string }> {
  written += 1;
  const path = join(folder, `report-${written}.html`);
  writeFileSync(path, htmlReport(given));
  const page = await browser!.page();
  await before?.(page);
  const url = pathToFileURL(path).href;
  await page.open(url + hash);
  return Object.assign(page, { url });
}
interface Showing {
  before?: (page: Page) => Promise<unknown>;
  hash?: string;
}

const visibleTests = (page: Page): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('.test')].filter((test) => test.checkVisibility()).map((test) => test.querySelector('.title').innerText)`,
  );
const textOf = (page: Page, selector: string): Promise<string> =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);

describe.skipIf(browser === undefined)('the page of a report', () => {
  test('shows the verdict, the charts, and what failed with its exchange, without asking for anything', async () => {
    const page = await show(everydayReport());
    expect(await page.evaluate('document.title')).toBe('✗ 3 of 34 tests failed in 3.9 s');
    expect(await textOf(page, 'h1')).toBe('3 of 34 tests failed in 3.9 s');
    const drawn = `[...document.querySelectorAll('.charts svg [class]')].filter((one) => one.getBoundingClientRect().width > 0).length`;
    expect(await page.evaluate<number>(drawn)).toBeGreaterThan(20);
    const open = await page.evaluate<string>(
      `[...document.querySelectorAll('details[open]')].map((one) => one.innerText).join('\\n')`,
    );
    expect(open).toContain('- The sum of 7 and -12 is -5.\n+ The sum of 7 and -12 is 5.');
    expect(open).toContain('{"content": [{"type": "text", "text": "The sum of 7 and -12 is 5."}]}');
    expect(open).toContain("TypeError: Cannot read properties of undefined (reading 'progressToken')");
    expect(open).toContain('found by weather-is-plausible, line 14');
    expect(await visibleTests(page)).toHaveLength(34);
    expect(page.requests).toEqual([page.url]);
    expect(page.complaints).toEqual([]);
  });

  test('failed tests come first in their suite', async () => {
    const page = await show(everydayReport());
    expect((await visibleTests(page)).slice(0, 4)).toEqual([
      'adds negative numbers',
      'keeps its output schema',
      'reports progress',
      'repeats its message',
    ]);
  });

  test('is searched with the keyboard alone', async () => {
    const page = await show(everydayReport());
    await page.press('/');
    await page.type('sum negative');
    expect(await visibleTests(page)).toEqual(['adds negative numbers']);
    expect(await page.evaluate(`document.getElementById('shown').value`)).toBe('1 of 34 shown');
    await page.press('Escape');
    expect(await visibleTests(page)).toHaveLength(34);
    await page.type('weather-is-plausible');
    expect(await visibleTests(page)).toEqual(['keeps its output schema']);
    await page.press('Escape');
    await page.type('no such words');
    expect(await visibleTests(page)).toEqual([]);
    expect(await textOf(page, '#none')).toBe('No test matches.');
  });

  test('shows those of one verdict, chosen with the keyboard alone', async () => {
    const page = await show(everydayReport());
    for (let at = 0; at < 20; at += 1) {
      await page.press('Tab');
      if (await page.evaluate(`document.activeElement.name === 'show'`)) break;
    }
    await page.press('ArrowRight');
    expect(await visibleTests(page)).toEqual([
      'adds negative numbers',
      'keeps its output schema',
      'reports progress',
    ]);
    expect(await page.evaluate(`[...document.querySelectorAll('.suite')].map((one) => one.hidden)`)).toEqual([
      false,
      true,
    ]);
    await page.press('ArrowRight');
    expect(await visibleTests(page)).toHaveLength(28);
  });

  test('a test opens and closes by a key, and all of them by a button', async () => {
    const page = await show(everydayReport());
    const open = () => page.evaluate<number>(`document.querySelectorAll('details[open]').length`);
    expect(await open()).toBe(3);
    await page.evaluate(`document.querySelector('details.passed summary').focus()`);
    await page.press('Enter');
    expect(await open()).toBe(4);
    await page.evaluate(`document.getElementById('close').focus()`);
    await page.press('Enter');
    expect(await open()).toBe(0);
    await page.evaluate(`document.getElementById('open').focus()`);
    await page.press(' ');
    expect(await open()).toBe(await page.evaluate(`document.querySelectorAll('details').length`));
  });

  test('a link leads to its test, and opens it', async () => {
    const page = await show(everydayReport(), { hash: '#t1' });
    expect(await page.evaluate(`document.getElementById('t1').open`)).toBe(true);
    await page.evaluate(`document.querySelector('.slowest a').click()`);
    expect(await page.evaluate(`location.hash`)).toBe('#t4');
    expect(
      await page.evaluate(`new Promise((done) => setTimeout(() => done(document.activeElement.innerText)))`),
    ).toContain('reports progress');
  });

  test('shows and filters without a script as well', async () => {
    const before = (page: Page) => page.send('Emulation.setScriptExecutionDisabled', { value: true });
    const page = await show(everydayReport(), { before });
    expect(await visibleTests(page)).toHaveLength(34);
    expect(await page.evaluate(`document.getElementById('search').checkVisibility()`)).toBe(false);
    await page.evaluate(`document.getElementById('show-skipped').checked = true`);
    expect(await visibleTests(page)).toEqual(['accepts', 'declines', 'is cancelled']);
  });

  test('what can be operated has a name, and what is drawn has words', async () => {
    const page = await show(everydayReport());
    const { nodes } = (await page.send('Accessibility.getFullAXTree')) as { nodes: AxNode[] };
    const named = nodes.filter(({ ignored, role }) => !ignored && NAMED.includes(role?.value ?? ''));
    expect(new Set(named.map(({ role }) => role!.value))).toEqual(new Set(NAMED));
    expect(named.filter(({ name }) => !name?.value)).toEqual([]);
    const images = named.filter(({ role }) => role!.value === 'image').map(({ name }) => name!.value);
    expect(images).toContain('28 passed, 3 failed, 3 skipped');
  });

  test.each(['light', 'dark'])('can be read in the %s', async (value) => {
    const features = [{ name: 'prefers-color-scheme', value }];
    const before = (page: Page) => page.send('Emulation.setEmulatedMedia', { features });
    const page = await show(everydayReport(), { before });
    await page.evaluate(`document.getElementById('open').click()`);
    const background = await page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`);
    expect(background).toBe(value === 'dark' ? 'rgb(20, 23, 28)' : 'rgb(245, 246, 248)');
    expect(await page.evaluate(FAINT_TEXTS)).toEqual([]);
  });

  test('does not overflow a narrow screen', async () => {
    const page = await show(hostileReport());
    await page.send('Emulation.setDeviceMetricsOverride', {
      width: 360,
      height: 700,
      deviceScaleFactor: 1,
      mobile: true,
    });
    expect(await page.evaluate(`document.documentElement.scrollWidth`)).toBe(360);
  });

  test('says so where all is well, and where nothing was or could be tested', async () => {
    const passed = await show(passedReport());
    expect(await textOf(passed, 'h1')).toBe('21 tests passed in 1.2 s');
    expect(await passed.evaluate(`document.querySelectorAll('details[open]').length`)).toBe(0);
    expect(await textOf(await show(report()), 'h1')).toBe('Nothing was tested');
    const broken = await show(report(suite([], { problem: 'The server did not start.', server: null })));
    expect(await textOf(broken, 'h1')).toBe('1 suite could not be tested');
    expect(await textOf(broken, '.problem')).toBe('The server did not start.');
  });
});

describe.skipIf(browser === undefined)('whatever servers write', () => {
  test.each([
    ['', hostileReport()],
    [', endlessly,', hostileReport(MEGABYTE)],
  ])('is text%s in the page', async (_, given) => {
    const page = await show(given);
    expect(await page.evaluate(`window.taken`)).toBeUndefined();
    expect(
      await page.evaluate(
        `['script', 'style', 'img', 'base', 'iframe'].map((tag) => document.getElementsByTagName(tag).length)`,
      ),
    ).toEqual([1, 1, 0, 0, 0]);
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('*')].filter((one) => [...one.attributes].some(({ name }) => name.startsWith('on') || name === 'style')).length`,
      ),
    ).toBe(0);
    expect(await visibleTests(page)).toHaveLength(3);
    const words = await page.evaluate<string>(`document.querySelector('.test.failed').textContent`);
    expect(words).toContain('<script>window.taken = 1</script><img src=x onerror="window.taken = 2">');
    expect(words).toContain('␛[31mred');
    expect(words).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(page.requests).toEqual([page.url]);
    expect(page.complaints).toEqual([]);
  });

  test('could not run even if it were markup', async () => {
    const page = await show(everydayReport());
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.taken = 1">')`,
    );
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.taken = 2' }))`,
    );
    const refused = (what: string) => page.complaints.some((words) => words.includes(what));
    await until(() => refused('inline event handler') && refused('inline script'), 'both are refused');
    expect(await page.evaluate(`window.taken`)).toBeUndefined();
  });
});

test('a page stays small enough to be opened, however much was written', () => {
  expect(htmlReport(hostileReport(MEGABYTE)).length).toBeLessThan(3_000_000);
  const failure = { kind: 'expectation' as const, message: 'wrong', actual: 'x'.repeat(20_000) };
  const many = Array.from({ length: 3000 }, (_, at) =>
    testResult(`tool/a/${at}`, {
      failure,
      response: 'y'.repeat(20_000),
      status: at % 2 ? 'failed' : 'passed',
    }),
  );
  expect(htmlReport(report(suite(many))).length).toBeLessThan(16_000_000);
});

test('a value that is nested without end is no trouble', () => {
  expect(htmlReport(report(suite([testResult('tool/a/b', { response: deepValue() })])))).toContain(
    'nested deeper',
  );
});

interface AxNode {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
}
const NAMED = ['button', 'radio', 'searchbox', 'link', 'image', 'DisclosureTriangle'];

/** Texts whose contrast to what is behind them is below what WCAG asks for (AA: 4.5). */
const FAINT_TEXTS = `(() => {
  const channel = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * channel(red / 255) + 0.7152 * channel(green / 255) + 0.0722 * channel(blue / 255);
  const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
  };
  return [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())).flatMap((one) => {
    const style = getComputedStyle(one);
    const ink = parse(one instanceof SVGElement ? style.fill : style.color);
    const [light, dark] = [luminance(ink), luminance(behind(one))].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    return contrast < 4.5 ? [one.outerHTML.slice(0, 80) + ' ' + contrast.toFixed(2)] : [];
  });
})()`;
