import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../packages/core/src/config/load.js';
import { Pungi } from '../../packages/core/src/pungi.js';
import { type HttpDoor, startHttp } from '../../packages/server/src/http.js';
import { NO_ENVIRONMENTS } from '../../packages/server/tests/doors.js';
import { temporaryFolder } from '../support/places.js';
import { until } from '../support/until.js';
import { type Browser, type Frame, type Page, startBrowser } from './browser.js';
import { ensureJudges, judgesFolder } from './ensure.js';

/** What a host of MCP Apps allows an app that declares nothing. */
const STRICT_POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'none'; connect-src 'none'; frame-src 'none'";
const HOST = 'http://host.test/';
const SETUP_MS = 600_000;
const TEST_MS = 60_000;

let pungi: Pungi;
let door: HttpDoor;
let client: Client;
let browser: Browser;
let viewer: string;
let hostScript: string;

beforeAll(async () => {
  await ensureJudges();
  pungi = Pungi.start(
    loadConfig({ env: { ...NO_ENVIRONMENTS, ARTIFACT_DIR: temporaryFolder() } }),
    undefined,
    'server',
  );
  door = await startHttp(pungi);
  client = new Client({ name: 'host', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(door.url)));
  const { contents } = await client.readResource({ uri: 'ui://pungi/viewer.html' });
  viewer = (contents[0] as { text: string }).text;
  hostScript = buildSync({
    entryPoints: [new URL('./viewer-host.mjs', import.meta.url).pathname],
    bundle: true,
    write: false,
    format: 'esm',
    nodePaths: [`${judgesFolder}node_modules`],
    platform: 'browser',
    logLevel: 'error',
  }).outputFiles[0]!.text;
  browser = await startBrowser();
}, SETUP_MS);

afterAll(async () => {
  await browser?.close();
  await client?.close();
  await door?.close();
  await pungi?.close();
});

interface Opened {
  page: Page;
  frame: Frame;
  /** Dialogs, errors of the page, and requests that nobody should make. */
  trouble: string[];
  downloads: string[];
}

/** A host that shows the result of a call in the viewer. */
async function open(result: CallToolResult): Promise<Opened> {
  const page = await browser.newPage();
  const trouble: string[] = [];
  const downloads: string[] = [];
  page.on('dialog', (dialog: { message(): string }) => trouble.push(`dialog ${dialog.message()}`));
  page.on('pageerror', (error: Error) => trouble.push(`error ${error.message}`));
  await page.route('**/*', async (route) => {
    const url = route.request().url();
    const html = (body: string, headers = {}) =>
      route.fulfill({ contentType: 'text/html', body, headers: { ...headers } });
    if (url === HOST)
      await html(
        '<iframe sandbox="allow-scripts" style="width:900px;height:900px"></iframe><script type="module" src="/host.mjs"></script>',
      );
    else if (url === `${HOST}host.mjs`)
      await route.fulfill({ contentType: 'text/javascript', body: hostScript });
    else if (url === `${HOST}viewer`) await html(viewer, { 'Content-Security-Policy': STRICT_POLICY });
    else {
      if (!url.endsWith('favicon.ico')) trouble.push(`request ${url}`);
      await route.abort();
    }
  });
  await page.exposeFunction('readResource', (uri: string) => client.readResource({ uri }));
  await page.exposeFunction('downloaded', (uri: string) => {
    downloads.push(uri);
  });
  await page.goto(HOST);
  await page.evaluate(`window.showResult(${JSON.stringify(result)})`);
  const frame = page.frame({ url: /viewer$/ })!;
  return { page, frame, trouble, downloads };
}

const run = (code: string, files: { path: string; text: string }[] = []) =>
  client.callTool({ name: 'execute_python', arguments: { code, files } });

/** Shown as a frame of pandas. */
const FRAME = {
  path: 'pandas.py',
  text: `class DataFrame:
    def __init__(self, csv): self.csv, self.size = csv, csv.count(",")
    def to_csv(self, target): target.write(self.csv)
    def _repr_html_(self): return "<table>"
    def __repr__(self): return "a frame"`,
};

/** A picture of one color. */
const PICTURE = `import struct, zlib
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(width, height):
    rows = (b"\\0" + b"\\xff\\0\\0" * width) * height
    return b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
`;

const HOSTILE = `<img src=x onerror="window.pwned=1;alert(1)"></script><script>window.pwned=1;alert(2)</script><svg onload=alert(3)>`;

describe('the viewer', () => {
  test('sorts a frame by numbers and texts, and finds rows in it', { timeout: TEST_MS }, async () => {
    const csv = ',city,n\n0,Kyiv,10\n1,"Bonn, ""old""",9\n2,Oslo,\n3,Aarhus,100\n';
    const { frame, page, trouble } = await open(
      await run(`import pandas\npandas.DataFrame(${JSON.stringify(csv)})`, [FRAME]),
    );
    const cities = () => frame.locator('tbody td:nth-child(2)').allTextContents();
    await frame.locator('table').waitFor();
    expect(await cities()).toEqual(['Kyiv', 'Bonn, "old"', 'Oslo', 'Aarhus']);
    await frame.locator('th button').nth(2).click();
    expect(await cities()).toEqual(['Bonn, "old"', 'Kyiv', 'Aarhus', 'Oslo']);
    await frame.locator('th button').nth(2).click();
    expect(await cities()).toEqual(['Aarhus', 'Kyiv', 'Bonn, "old"', 'Oslo']);
    expect(await frame.locator('th').nth(2).getAttribute('aria-sort')).toBe('descending');
    await frame.locator('input').fill('bonn');
    expect(await cities()).toEqual(['Bonn, "old"']);
    expect(trouble).toEqual([]);
    await page.close();
  });

  test('searches output, and says how often it found something', { timeout: TEST_MS }, async () => {
    const { frame, page } = await open(await run('print("alpha\\nbeta\\nAlphabet")'));
    await frame.locator('input').fill('alpha');
    expect(await frame.locator('mark').allTextContents()).toEqual(['alpha', 'Alpha']);
    expect(await frame.locator('#found').textContent()).toBe('2 found');
    await frame.locator('input').fill('');
    expect(await frame.locator('pre').first().textContent()).toBe('alpha\nbeta\nAlphabet\n');
    await page.close();
  });

  test('loads the whole of a long output', { timeout: TEST_MS }, async () => {
    const { frame, page } = await open(await run('print("x" * 50_000 + "needle" + "y" * 50_000)'));
    await frame.locator('input').fill('needle');
    expect(await frame.locator('#found').textContent()).toBe('0 found');
    await frame.locator('button.load').first().click();
    await until(async () => (await frame.locator('#found').textContent()) === '1 found', 'the whole output');
    await page.close();
  });

  test('draws pictures where its host allows no images, and asks the host for downloads', {
    timeout: TEST_MS,
  }, async () => {
    const { frame, page, trouble, downloads } = await open(
      await run(`${PICTURE}display({"image/png": png(30, 20)}, raw=True)`),
    );
    await frame.locator('canvas').waitFor();
    const pixel = `(() => { const c = document.querySelector('canvas'); return [c.width, c.height, ...c.getContext('2d').getImageData(5, 5, 1, 1).data]; })()`;
    expect(await frame.evaluate(pixel)).toEqual([30, 20, 255, 0, 0, 255]);
    await frame.locator('button').first().click();
    await until(async () => downloads.length > 0, 'the download');
    expect(downloads).toEqual([expect.stringMatching(/^pungi:\/\/run\/.*\/figure-1\.png$/)]);
    expect(trouble).toEqual([]);
    await page.close();
  });

  test('shows a failure', { timeout: TEST_MS }, async () => {
    const { frame, page } = await open(await run('1 / 0'));
    expect(await frame.locator('pre.error').first().textContent()).toContain('ZeroDivisionError');
    await page.close();
  });

  test('shows hostile output, frames, names and pictures as text, and runs none of them', {
    timeout: TEST_MS,
  }, async () => {
    const code = `import pandas
hostile = ${JSON.stringify(HOSTILE)}
print(hostile)
open("<img src=x onerror=alert(4)>.txt", "w").write(hostile)
display({"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><script>alert(5)</script></svg>"}, raw=True)
display({"text/html": hostile}, raw=True)
display(pandas.DataFrame(hostile + ",b\\n" + hostile + ",=cmd\\n"))`;
    const { frame, page, trouble } = await open(await run(code, [FRAME]));
    await frame.locator('table').waitFor();
    for (let button = frame.locator('button.load').first(); await button.count(); ) await button.click();
    await until(async () => (await frame.locator('section pre').count()) >= 2, 'all files');
    expect(await frame.locator('pre').first().textContent()).toContain(HOSTILE);
    expect(await frame.locator('th').first().textContent()).toBe(HOSTILE);
    expect(
      await frame.locator('main script, main iframe, main svg, main img[src=x], main object').count(),
    ).toBe(0);
    expect(await frame.evaluate('window.pwned')).toBeUndefined();
    expect(trouble).toEqual([]);
    await page.close();
  });

  test('survives a huge frame, a broken picture and a result that is none', {
    timeout: TEST_MS,
  }, async () => {
    const huge = await run('import pandas\npandas.DataFrame("a,b\\n" + "1,2\\n" * 300_000)', [FRAME]);
    const first = await open(huge);
    await first.frame.locator('section:has-text("csv") button.load').first().click();
    await first.frame.locator('table').waitFor();
    expect(await first.frame.locator('tbody tr').count()).toBe(200);
    await first.frame.locator('th button').first().click();
    expect(await first.frame.locator('tbody tr').count()).toBe(200);
    const odd = {
      content: [
        { type: 'image', data: '###', mimeType: 'image/png' },
        { type: 'image', data: 'AAAA', mimeType: 'text/html' },
      ],
    };
    await first.page.evaluate(`window.showResult(${JSON.stringify(odd)})`);
    await until(async () => (await first.frame.locator('section p').count()) === 2, 'the sentences');
    // Not from the host: nothing of it is believed.
    await first.frame.evaluate(
      `window.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/tool-result', params: { content: [{ type: 'text', text: 'forged' }] } }, '*')`,
    );
    await first.frame.evaluate('new Promise((resolve) => setTimeout(resolve))');
    expect(await first.frame.locator('main').textContent()).not.toContain('forged');
    expect(first.trouble).toEqual([]);
    await first.page.close();
  });
});
