import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import {
  type PackageIndex,
  sharedPackageIndex,
  type TestPackage,
} from '../../../tests/support/package-index.js';
import { ensureUv } from '../../../tests/support/uv.js';
import { type Ended, pungi, type Running, type Setting, start } from './pungi.js';

export interface CommandLineWorld {
  index: PackageIndex;
  base: string;
  /** What the program is to be started with, to see this folder and this index and no other. */
  settings: Record<string, string>;
  /** `pungi …` to its end. */
  run(args: string[], more?: Setting & { input?: string }): Promise<Ended>;
  /** `pungi env …` to its end. */
  env(args: string[], more?: Setting & { input?: string }): Promise<Ended>;
  /** `pungi env … --json`, which must end well. */
  json(args: string[]): Promise<unknown>;
  start(args: string[], more?: Setting): Running;
  /** What is left of anything half-made. */
  leftovers(): string[];
}

/** A folder for environments and a package index of the test file's own. */
export async function openWorld(packages?: TestPackage[]): Promise<CommandLineWorld> {
  const index = await sharedPackageIndex(packages);
  const base = mkdtempSync(join(tmpdir(), 'test-env-'));
  afterAll(() => rmSync(base, { recursive: true, force: true }));
  const settings = { ...index.env, VENVS_BASE_PATH: base, PUNGI_UV: await ensureUv() };
  const withSettings = <T extends Setting>(more: T) => ({ ...more, env: { ...settings, ...more.env } });
  const run: CommandLineWorld['run'] = (args, more = {}) => pungi(args, withSettings(more));
  const env: CommandLineWorld['env'] = (args, more) => run(['env', ...args], more);
  return {
    index,
    base,
    settings,
    run,
    env,
    start: (args, more = {}) => start(args, withSettings(more)),
    async json(args) {
      const { status, stdout, stderr } = await env([...args, '--json']);
      if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
      return JSON.parse(stdout);
    },
    leftovers() {
      const places = ['.making', '.trash'].map((name) => join(base, name)).filter((path) => existsSync(path));
      return places.flatMap((path) => readdirSync(path));
    },
  };
}
