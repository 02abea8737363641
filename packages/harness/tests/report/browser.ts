import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { ensureTool } from './debian-tool.js';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--hide-scrollbars',
  '--remote-debugging-pipe',
];

type Json = Record<string, unknown>;

/** A real browser, spoken to in its own protocol through two pipes; no package is needed for it. */
export class Browser {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  readonly #listeners = new Set<(method: string, params: Json) => void>();
  #rest = '';
  #last = 0;

  private constructor(path: string) {
    this.#profile = mkdtempSync(join(tmpdir(), 'pungi-test-browser-'));
    this.#child = spawn(path, [...FLAGS, `--user-data-dir=${this.#profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    const answers = this.#child.stdio[4] as Readable;
    answers.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    this.#child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The browser ended.'));
    });
  }

  /** Undefined where there is none, and none may be installed. */
  static async open(): Promise<Browser | undefined> {
    const path = PATHS.find((one) => existsSync(one)) ?? (await ensureTool('chromium'));
    return path === undefined ? undefined : new Browser(path);
  }

  send(method: string, params: Json = {}, sessionId?: string): Promise<Json> {
    this.#last += 1;
    const id = this.#last;
    (this.#child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  onEvent(listener: (method: string, params: Json) => void): void {
    this.#listeners.add(listener);
  }

  async page({ width = 1200, height = 900 } = {}): Promise<Page> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId as string);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await page.send(`${domain}.enable`);
    await page.send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
    return page;
  }

  async close(): Promise<void> {
    const ended = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined;
    void this.send('Browser.close').catch(() => {});
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #hear(text: string): void {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) {
      const { id, method, params, result, error } = JSON.parse(message);
      if (id === undefined) for (const listener of this.#listeners) listener(method, params);
      else if (error) this.#waiting.get(id)?.reject(new Error(JSON.stringify(error)));
      else this.#waiting.get(id)?.resolve(result);
      this.#waiting.delete(id);
    }
  }
}

export class Page {
  /** Addresses that the page asked for, and what its security policy or script complained about. */
  readonly requests: string[] = [];
  readonly complaints: string[] = [];
  #loaded: () => void = () => {};

  constructor(
    private readonly browser: Browser,
    private readonly session: string,
  ) {
    browser.onEvent((method, params) => {
      const { request, entry, exceptionDetails } = params as Record<string, Record<string, unknown>>;
      if (method === 'Network.requestWillBeSent') this.requests.push(String(request?.['url']));
      if (method === 'Log.entryAdded') this.complaints.push(String(entry?.['text']));
      if (method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(exceptionDetails));
      if (method === 'Page.loadEventFired') this.#loaded();
    });
  }

  send(method: string, params: Json = {}): Promise<Json> {
    return this.browser.send(method, params, this.session);
  }

  async open(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => {
      this.#loaded = resolve;
    });
    await this.send('Page.navigate', { url });
    await loaded;
  }

  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (answer['exceptionDetails']) throw new Error(JSON.stringify(answer['exceptionDetails']));
    return (answer['result'] as { value: T }).value;
  }

  /** Presses a key as a person does: the page, not this program, decides what comes of it. */
  async press(key: string): Promise<void> {
    const codes: Record<string, number> = { Tab: 9, Enter: 13, Escape: 27, ' ': 32, ArrowRight: 39 };
    const known = codes[key];
    const typed = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
    const event = {
      key,
      ...(known ? { windowsVirtualKeyCode: known, code: key === ' ' ? 'Space' : key } : {}),
    };
    await this.send('Input.dispatchKeyEvent', {
      type: 'keyDown',
      ...event,
      ...(typed ? { text: typed } : {}),
    });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  async type(text: string): Promise<void> {
    await this.send('Input.insertText', { text });
  }

  async picture(full = false): Promise<Buffer> {
    const { data } = await this.send('Page.captureScreenshot', { captureBeyondViewport: full });
    return Buffer.from(data as string, 'base64');
  }
}
