import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { htmlReport } from '../../src/report/html/page.js';
import { Browser } from './browser.js';
import { everydayReport } from './sample.js';

/** Draws docs/images/test-report.png anew: `npx tsx packages/harness/tests/report/picture.ts`. */
async function draw(): Promise<void> {
  const browser = await Browser.open();
  if (browser === undefined) throw new Error('There is no browser to draw the picture with.');
  const folder = mkdtempSync(join(tmpdir(), 'pungi-picture-'));
  try {
    const path = join(folder, 'report.html');
    writeFileSync(path, htmlReport(everydayReport()));
    const page = await browser.page({ width: 1180, height: 1240 });
    await page.open(pathToFileURL(path).href);
    const picture = join(import.meta.dirname, '../../../../docs/images/test-report.png');
    writeFileSync(picture, await page.picture());
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true });
  }
}

void draw();
