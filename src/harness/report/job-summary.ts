import { appendFile } from 'node:fs/promises';
import { PungiError } from '../../base/errors.js';
import { fileProblem } from '../../base/file-problem.js';
import type { TestReport } from '../../contract/test-report.js';
import { markdownReport } from './markdown.js';

/** Adds the report to the page of the job, where CI has one that takes Markdown; tells whether it has. */
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
    throw new PungiError('INVALID_INPUT', `The job's summary cannot be written: ${fileProblem(error)}.`);
  }
}
