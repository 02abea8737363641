import { extname } from 'node:path';
import { z } from 'zod';

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

/** The format that a file's name tells, where it tells one. */
export const formatOfFile = (path: string): ReportFormat | undefined =>
  BY_ENDING[extname(path).toLowerCase()];
