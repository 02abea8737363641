import { z } from 'zod';
import type { StepOptions } from './environment.js';
import { RunRequest } from './run.js';

/** Code to analyse without running it. */
export const AnalysisRequest = z.strictObject({
  code: RunRequest.shape.code.unwrap().describe('Python'),
  venvName: z.string().max(200).optional().describe('Environment'),
  /** Look for code that can be abused. */
  enableSecurity: z.boolean().default(true),
  /** Look at names, idioms, layout and what is not used. */
  enableStyle: z.boolean().default(true),
  /** Look for functions that do too much. */
  enableComplexity: z.boolean().default(true),
});
export type AnalysisRequest = z.input<typeof AnalysisRequest>;

export interface AnalysisOptions extends StepOptions {
  /** The caller; the queue is fair between clients. */
  client?: string;
}

export const SEVERITIES = ['error', 'warning', 'info'] as const;
export const Severity = z.enum(SEVERITIES);
export type Severity = z.infer<typeof Severity>;

export const CATEGORIES = ['error', 'security', 'complexity', 'style'] as const;
export const Category = z.enum(CATEGORIES);
export type Category = z.infer<typeof Category>;

const place = (what: string) => z.number().int().describe(what);

export const Finding = z.object({
  line: place('1-based'),
  column: place('1-based, in characters'),
  endLine: place('where it ends'),
  endColumn: place('the first column after it'),
  rule: z.string().describe('e.g. "S602", or "invalid-syntax"'),
  name: z.string().describe('the name of the rule, e.g. "unused-import"'),
  message: z.string(),
  severity: Severity,
  category: Category.describe('error: the code does not parse, or fails when it gets there'),
  url: z.string().nullable().describe('the explanation of the rule'),
  fix: z.string().nullable().describe('a suggested fix'),
});
export type Finding = z.infer<typeof Finding>;

const count = z.number().int();

export const Analysis = z.object({
  findings: z.array(Finding).describe('sorted by position'),
  summary: z.object({
    total: count.describe('number of findings'),
    omitted: count.describe('number of findings left out of the list'),
    bySeverity: z.record(Severity, count),
    byCategory: z.record(Category, count),
  }),
  tool: z.string().describe('the analyser, e.g. "ruff 0.17.4"'),
});
export type Analysis = z.infer<typeof Analysis>;
