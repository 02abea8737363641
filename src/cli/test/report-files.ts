import { PungiError } from '../../base/errors.js';
import { formatOfFile, type ReportFile, ReportFormat } from '../../harness/report/index.js';

/** What --report names: "junit:report.xml", or a path whose ending tells the format. */
export function reportFile(text: string): ReportFile {
  const [, named, rest] = /^([a-z]+):(.*)$/is.exec(text) ?? [];
  const known = ReportFormat.safeParse(named?.toLowerCase());
  if (known.success && rest) return { format: known.data, path: rest };
  const format = formatOfFile(text);
  // A letter before a colon is a drive on some systems, not a format.
  if (format !== undefined && (named === undefined || named.length === 1)) return { format, path: text };
  throw new PungiError(
    'INVALID_INPUT',
    `--report ${text}: write FORMAT:PATH, with one of ${ReportFormat.options.join(', ')}.`,
  );
}
