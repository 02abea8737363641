// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what references look like
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { TestResult } from '../../../core/src/contract/test-report.js';
import { type RunOptions, runSuite } from '../../src/run/run-suite.js';
import { faultText } from '../../src/spec/fault.js';
import { loadSpecification } from '../../src/spec/load.js';

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../../tests/fixtures/servers/${name}`, import.meta.url));

/** How a server of the fixtures is started over stdio. */
export const over = (name: string, more: object = {}) => ({
  command: process.execPath,
  args: [fixture(name)],
  ...more,
});

export const overHttp = (name: string, args: string[] = [], more: object = {}) => ({
  command: process.execPath,
  args: [fixture(name), '${port}', ...args],
  transport: 'http',
  url: 'http://127.0.0.1:${port}/mcp',
  ...more,
});

export function specFile(specification: object): string {
  const file = join(mkdtempSync(join(tmpdir(), 'pungi-run-')), 'spec.yaml');
  writeFileSync(file, stringify({ name: 's', ...specification }));
  return file;
}

/** Runs a specification as somebody would write it. */
export async function run(specification: object, options: Partial<RunOptions> = {}) {
  return runFile(specFile(specification), options);
}

export async function runFile(file: string, options: Partial<RunOptions> = {}) {
  const { loaded, faults = [] } = loadSpecification(file, { environment: process.env });
  if (loaded === undefined) throw new Error(faults.map(faultText).join('\n'));
  const report = await runSuite(loaded, { environment: process.env, ...options });
  const named = (name: string): TestResult => {
    const found = report.results.find((result) => result.name === name);
    if (found === undefined) throw new Error(`no ${name} among ${report.results.map(({ id }) => id)}`);
    return found;
  };
  return { report, named, statuses: report.results.map(({ name, status }) => `${name}: ${status}`) };
}

/** One test of the one tool that the bad servers have. */
export const WORK = { tools: [{ name: 'work', tests: [{ name: 'works' }] }] };

export const messagesOf = ({ failures }: TestResult) => failures.map(({ message }) => message);
