import { execFileSync, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { judgesFolder } from './ensure.js';

/** As much of playwright-core as is used here: it is installed with the judges, not with Pungi. */
export interface Page {
  goto(url: string): Promise<unknown>;
  route(url: string, answer: (route: Route) => unknown): Promise<void>;
  on(event: 'dialog' | 'pageerror' | 'request', hear: (what: never) => void): void;
  exposeFunction(name: string, call: (...args: never[]) => unknown): Promise<void>;
  evaluate<Result>(code: string): Promise<Result>;
  frame(options: { url: RegExp }): Frame | null;
  locator(selector: string): Locator;
  close(): Promise<void>;
}
export interface Route {
  request(): { url(): string };
  fulfill(response: object): Promise<void>;
  abort(): Promise<void>;
}
export interface Frame {
  locator(selector: string): Locator;
  evaluate<Result>(code: string): Promise<Result>;
}
export interface Locator {
  allTextContents(): Promise<string[]>;
  textContent(): Promise<string | null>;
  count(): Promise<number>;
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  first(): Locator;
  nth(index: number): Locator;
  locator(selector: string): Locator;
  waitFor(options?: { state?: string; timeout?: number }): Promise<void>;
  getAttribute(name: string): Promise<string | null>;
}
export interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

const pathOf = (program: string) =>
  spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).stdout.trim();

/** The browser of this machine: installed where it is Debian and we are root, asked for otherwise. */
function ensureChromium(): string {
  const found = NAMES.map(pathOf).find((path) => path !== '');
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || pathOf('apt-get') === '')
    throw new Error('The viewer is tested in Chromium: install the package chromium first.');
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
    stdio: 'ignore',
  });
  return pathOf(NAMES[0]!);
}

/** Starts the browser. After `ensureJudges`. */
export function startBrowser(): Promise<Browser> {
  const { chromium } = createRequire(judgesFolder)('playwright-core') as {
    chromium: { launch(options: object): Promise<Browser> };
  };
  // As root, Chromium has no sandbox of its own; it shows only our pages.
  return chromium.launch({ executablePath: ensureChromium(), args: ['--no-sandbox', '--disable-gpu'] });
}
