import { appendFile, lstat, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileProblem, PungiError, writeWhole } from '@pungi/core/base';
import type { TestReport } from '@pungi/core/contract';
import { z } from 'zod';
import { htmlReport } from './html/page.js';
import { junitReport } from './junit.js';
import { markdownReport } from './markdown.js';

export { annotationsOf, beginSection, type Ci, detectCi } from './ci.js';
export { countResults, verdictOf } from './evidence.js';
export { TerminalReporter } from './terminal.js';

const RENDERERS: Record<ReportFormat, (report: TestReport) => string> = {
  json: jsonReport,
  junit: junitReport,
  markdown: markdownReport,
  html: htmlReport,
};

export const renderReport = (report: TestReport, format: ReportFormat): string => RENDERERS[format](report);

export interface ReportFile {
  format: ReportFormat;
  path: string;
}

/** Writes all reports, then throws the first error: one bad path does not prevent the others. */
export async function writeReports(report: TestReport, files: readonly ReportFile[]): Promise<void> {
  const problems: unknown[] = [];
  for (const { format, path } of files) {
    await writeReport(path, renderReport(report, format)).catch((problem: unknown) => problems.push(problem));
  }
  if (problems.length > 0) throw problems[0];
}

export const ReportFormat = z.enum(['json', 'junit', 'markdown', 'html']);
export type ReportFormat = z.infer<typeof ReportFormat>;

const BY_ENDING: Record<string, ReportFormat> = {
  '.json': 'json',
  '.xml': 'junit',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.html': 'html',
  '.htm': 'html',
};

/** The format that follows from a file extension, if any. */
export const formatOfFile = (path: string): ReportFormat | undefined =>
  BY_ENDING[extname(path).toLowerCase()];

/** Appends the report to the job summary if the CI has one; returns whether it has. */
export async function appendJobSummary(
  report: TestReport,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const path = env['GITHUB_STEP_SUMMARY'];
  if (!path) return false;
  try {
    await appendFile(path, `${markdownReport(report)}\n`);
    return true;
  } catch (error) {
    throw new PungiError('INVALID_INPUT', `Could not write the job summary: ${fileProblem(error)}.`);
  }
}

/** Answers can be nested deeper than JSON.stringify supports. */
const DEEPEST = 500;

/** Renders the complete report: other formats shorten it. */
export function jsonReport(report: TestReport): string {
  try {
    return `${JSON.stringify(report, null, 2)}\n`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${JSON.stringify(shallower(report, 0), null, 2)}\n`;
  }
}

function shallower(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) return '… nested deeper …';
  if (Array.isArray(value)) return value.map((item) => shallower(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shallower(item, depth + 1)]));
}

/** Writes to a pipe, a device or a link's target instead of replacing it by a file. */
async function writeReport(path: string, content: string): Promise<void> {
  const what = `the report ${path}`;
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isFile()) return writeWhole(path, content, what);
  await writeFile(path, content).catch((error: unknown) => {
    throw new PungiError('INVALID_INPUT', `Could not write ${what}: ${fileProblem(error)}.`);
  });
}
