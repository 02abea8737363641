import { type ErrorCode, PungiError } from '../../base/errors.js';
import { jsonFaults } from '../../base/issue-text.js';
import {
  Analysis,
  type AnalysisOptions,
  AnalysisRequest,
  CATEGORIES,
  SEVERITIES,
} from '../../contract/analysis.js';
import type { Outcome, Verdict } from '../../contract/outcome.js';
import type { RunOptions, RunRequest } from '../../contract/run.js';
import type { Environments } from '../environments.js';
import { IGNORED, MEANINGS, selectRules } from './analysis-rules.js';
import { ANALYSIS_SCRIPT } from './analysis-script.js';

/** Older versions lack current Python syntax; another major version may answer differently. */
const RUFF = 'ruff>=0.9,<1';
const MAX_FINDINGS = 500;

const NOT_TO_BE_HAD: ErrorCode[] = [
  'PACKAGE_INSTALLATION_ERROR',
  'TOOL_UNAVAILABLE',
  'EXECUTION_TIMEOUT',
  'DENIED',
];

const Report = Analysis.omit({ tool: true });

export interface AnalysisSurroundings {
  environments: Environments;
  run(request: RunRequest, options: RunOptions): Promise<Outcome>;
  /** The output limit of a run. */
  maxOutputBytes: number;
}

/** Analyses code with ruff, in a separate environment and in the sandbox: a linter reads untrusted text, too. */
export async function analyzeCode(
  request: AnalysisRequest,
  { environments, run, maxOutputBytes }: AnalysisSurroundings,
  steps: AnalysisOptions = {},
): Promise<Analysis> {
  const { code, venvName: wanted, ...enabled } = parse(request);
  const target = wanted === undefined ? null : targetOf((await environments.show(wanted)).pythonVersion);
  const venvName = await provideRuff(environments, steps);
  const context = {
    select: selectRules(enabled),
    ignore: IGNORED,
    meanings: MEANINGS,
    severities: [...SEVERITIES],
    categories: [...CATEGORIES],
    maxFindings: MAX_FINDINGS,
    maxBytes: maxOutputBytes,
    target,
  };
  const about = {
    code: ANALYSIS_SCRIPT,
    filename: 'analyze_code.py',
    stdin: wellFormed(code),
    context,
    venvName,
  };
  const outcome = await run(about, steps);
  return { ...read(outcome), tool: await nameTool(environments, venvName) };
}

/** Returns a version as ruff names it, or null for its default. */
const targetOf = (version: string) => {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  return minor === undefined ? null : `py${major}${minor}`;
};

/** Ruff cannot read lone surrogates. */
const wellFormed = (text: string) => Buffer.from(text).toString();

function parse(request: AnalysisRequest) {
  const parsed = AnalysisRequest.safeParse(request);
  if (parsed.success) return parsed.data;
  const issues = jsonFaults(parsed.error);
  throw new PungiError('INVALID_INPUT', `The request is not valid: ${issues.join('; ')}.`, { issues });
}

async function provideRuff(environments: Environments, steps: AnalysisOptions): Promise<string> {
  try {
    return await environments.provideInline({ dependencies: [RUFF], requiresPython: null }, steps);
  } catch (thrown) {
    steps.signal?.throwIfAborted();
    const { code, message, details } = PungiError.from(thrown);
    if (!NOT_TO_BE_HAD.includes(code)) throw thrown;
    const sentence = `Code is analyzed with ruff, which is not here and could not be installed: ${message}`;
    throw new PungiError('TOOL_UNAVAILABLE', sentence, { ...details, tool: 'ruff', because: code }, thrown);
  }
}

function read({ verdict, stdout, stderr }: Outcome): Omit<Analysis, 'tool'> {
  if (verdict.kind !== 'ok') throw failure(verdict, stderr.text);
  try {
    return Report.parse(JSON.parse(stdout.text));
  } catch (thrown) {
    throw new PungiError('INTERNAL_ERROR', 'The answer of ruff could not be read.', {}, thrown);
  }
}

/** The failed script is Pungi's, so its exceptions must not be reported as those of the code. */
function failure(verdict: Exclude<Verdict, { kind: 'ok' }>, stderr: string): PungiError {
  if (verdict.kind === 'python-error' || verdict.kind === 'exited') {
    const why = stderr.trim().split('\n').at(-1) || verdict.message;
    return new PungiError('INTERNAL_ERROR', `The code could not be analyzed: ${why}`);
  }
  return new PungiError(verdict.code, `The code could not be analyzed: ${verdict.message}`);
}

async function nameTool(environments: Environments, venvName: string): Promise<string> {
  const packages = (await environments.metadata(venvName).catch(() => undefined))?.packages ?? [];
  const version = packages.find(({ name }) => name.toLowerCase() === 'ruff')?.version;
  return version === undefined ? 'ruff' : `ruff ${version}`;
}
