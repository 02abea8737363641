import type { TestReport } from '../../contract/test-report.js';
import type { ReportFormat } from './format.js';
import { htmlReport } from './html/page.js';
import { jsonReport } from './json.js';
import { junitReport } from './junit.js';
import { markdownReport } from './markdown.js';
import { writeReport } from './write-file.js';

export { annotationsOf, beginSection, type Ci, detectCi } from './ci.js';
export { formatOfFile, ReportFormat } from './format.js';
export { appendJobSummary } from './job-summary.js';
export { type RunPlan, type TerminalOptions, TerminalReporter } from './terminal.js';
export { countResults, type Verdict, verdictOf } from './verdict.js';

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

/** Writes them all, then tells of the first that could not be written: one bad path costs no other report. */
export async function writeReports(report: TestReport, files: readonly ReportFile[]): Promise<void> {
  const problems: unknown[] = [];
  for (const { format, path } of files) {
    await writeReport(path, renderReport(report, format)).catch((problem: unknown) => problems.push(problem));
  }
  if (problems.length > 0) throw problems[0];
}
