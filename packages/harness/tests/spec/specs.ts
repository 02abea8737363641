import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lastingFolder } from '../../../../tests/support/places.js';
import { faultText, warningText } from '../../src/spec/fault.js';
import { type LoadOptions, type LoadResult, loadSpecification } from '../../src/spec/load.js';

const root = lastingFolder();

export const SERVER = 'server: {command: node}\n';

/** Writes files into a folder of its own and loads the first of them. */
export function loadFiles(
  files: Record<string, string>,
  options: Partial<LoadOptions> = {},
): LoadResult & { folder: string } {
  const folder = mkdtempSync(join(root, 'spec-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const [first] = Object.keys(files);
  return { ...loadSpecification(join(folder, first!), { environment: {}, ...options }), folder };
}

export const load = (text: string, options: Partial<LoadOptions> = {}, server = SERVER) =>
  loadFiles({ 'spec.yaml': `name: s\n${server}${text}` }, options);

/** A specification that must be right. */
export function loaded(...given: Parameters<typeof load>) {
  const result = load(...given);
  if (result.faults !== undefined) throw new Error(result.faults.map(faultText).join('\n'));
  return result.loaded;
}

/** What is wrong, without the folder. */
export const faultsOf = ({ faults = [], folder }: ReturnType<typeof loadFiles>) =>
  faults.map((fault) => faultText(fault).replaceAll(`${folder}/`, ''));

export const warningsOf = ({ warnings, folder }: ReturnType<typeof loadFiles>) =>
  warnings.map((warning) => warningText(warning).replaceAll(`${folder}/`, ''));

/** One tool with tests that are written below "tests:", without indentation. */
export const tests = (text: string) =>
  `tools:\n  - name: add\n    tests:\n${text.replace(/^(?=.)/gm, '      ')}\n`;
