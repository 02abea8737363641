import { Analysis, AnalysisRequest, type Finding } from '../../contract/analysis.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import { countOf } from './environment-words.js';
import type { Tool } from './tool.js';
import { ONLY_LOOKS } from './venv-arguments.js';

/** What a model can take in; a program finds the others in the structured content. */
const MAX_LINES = 100;

export const analyzeCode = (): Tool => ({
  name: 'analyze_code',
  title: 'Analyze Python code',
  description:
    'Check Python code with ruff, without running it: errors (syntax, undefined names), and unless switched off security ' +
    '(rules of Bandit), complexity and style. Comments such as "# noqa" switch nothing off. The first call installs ruff.',
  annotations: ONLY_LOOKS,
  inputSchema: advertiseArguments(AnalysisRequest),
  outputSchema: advertiseResult(Analysis, ['summary']),
  answer: (args, call) =>
    answer(AnalysisRequest, args, call, async (request, steps) =>
      replyData(await call.pungi.analyze(request, steps), wordAnalysis),
    ),
});

function wordAnalysis({ findings, summary: { total, bySeverity }, tool }: Analysis): string {
  if (total === 0) return `No findings (${tool}).`;
  const { error, warning, info } = bySeverity;
  const shown = findings.slice(0, MAX_LINES);
  const left = total - shown.length;
  return [
    `${countOf(total, 'finding')} (${tool}): ${countOf(error, 'error')}, ${countOf(warning, 'warning')}, ${info} for information`,
    ...shown.map(wordFinding),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ].join('\n');
}

const wordFinding = ({ line, column, rule, severity, category, message, fix }: Finding) =>
  [
    `${line}:${column}  ${category === severity ? severity : `${category} ${severity}`}  ${rule}  ${message.replaceAll(/\s+/g, ' ')}`,
    ...(fix === null ? [] : [`  fix: ${fix}`]),
  ].join('');
