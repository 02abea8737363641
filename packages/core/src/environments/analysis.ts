import { type ErrorCode, PungiError } from '../base/errors.js';
import { jsonFaults } from '../base/issue-text.js';
import {
  Analysis,
  type AnalysisOptions,
  AnalysisRequest,
  CATEGORIES,
  type Category,
  SEVERITIES,
  type Severity,
} from '../contract/analysis.js';
import type { Outcome, Verdict } from '../contract/outcome.js';
import type { RunOptions, RunRequest } from '../contract/run.js';
import type { Environments } from './environments.js';

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

interface AnalysisSurroundings {
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
  const issues = jsonFaults(parsed.error, AnalysisRequest);
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

/** Category and severity of a rule's findings. A rule belongs to the first prefix that it starts with. */
type RuleMeaning = [prefix: string, category: Category, severity: Severity];

/** Definite errors: the code does not parse, or fails when it is reached. */
const ALWAYS = ['F404', 'F406', 'F407', 'F50', 'F52', 'F6', 'F7', 'F82', 'PLE'];
const SECURITY = ['S'];
const COMPLEXITY = ['C90', 'PLR09'];
const STYLE = ['F401', 'F402', 'F403', 'F405', 'F541', 'F81', 'F84', 'F9', 'E', 'W', 'N', 'UP', 'B', 'C4'];

/** Code passed as an argument often has no newline at its end, which is fine. */
const IGNORED = ['W292'];

/** Ruff reports everything as an error, so these severities follow Bandit, the origin of the rules: high, and low. */
const GRAVE = 'S201 S304 S312 S321 S324 S501 S502 S507 S602 S605 S609 S701'.split(' ');
const SLIGHT = 'S101 S105 S106 S107 S110 S112 S311 S504 S603 S606 S607'.split(' ');

const meaning =
  (category: Category, severity: Severity) =>
  (prefix: string): RuleMeaning => [prefix, category, severity];

const MEANINGS: RuleMeaning[] = [
  ...['invalid-syntax', ...ALWAYS].map(meaning('error', 'error')),
  ...GRAVE.map(meaning('security', 'error')),
  ...SLIGHT.map(meaning('security', 'info')),
  ...SECURITY.map(meaning('security', 'warning')),
  ...COMPLEXITY.map(meaning('complexity', 'warning')),
  // Likely mistakes: unused or redefined names, bare except, comparisons that are not meant.
  ...['F', 'E7', 'B'].map(meaning('style', 'warning')),
  meaning('style', 'info')(''),
];

interface Enabled {
  enableSecurity: boolean;
  enableStyle: boolean;
  enableComplexity: boolean;
}

const selectRules = ({ enableSecurity, enableStyle, enableComplexity }: Enabled): string[] => [
  ...ALWAYS,
  ...(enableSecurity ? SECURITY : []),
  ...(enableComplexity ? COMPLEXITY : []),
  ...(enableStyle ? STYLE : []),
];

/**
 * Runs in the sandbox, in the environment that has ruff: the code is on its standard input and never runs. `context`
 * contains the rules, their meaning, and the limits of the output.
 */
const ANALYSIS_SCRIPT = `
import functools, json, os, subprocess, sys

with open("code.py", "wb") as file:
    file.write(sys.stdin.buffer.read())


def start(*options):
    ruff = [os.path.join(sys.prefix, "bin", "ruff"), "check", "--isolated", "--no-cache", "--exit-zero", "--ignore-noqa"]
    rules = ["--select", ",".join(context["select"]), "--ignore", ",".join(context["ignore"])]
    if context["target"]:
        rules += ["--target-version", context["target"]]
    # One thread: there is one file, and processes are counted here.
    variables = {"RAYON_NUM_THREADS": "1", "NO_COLOR": "1"}
    with open("code.py", "rb") as code, open("problem", "wb") as problem:
        return subprocess.Popen(
            [*ruff, "--output-format=json-lines", *options, *rules, "-"],
            stdin=code, stdout=subprocess.PIPE, stderr=problem, env=variables,
        )


@functools.cache
def meaning(rule):
    return next(rest for prefix, *rest in context["meanings"] if rule.startswith(prefix))


def describe(rule, found):
    url = found["url"]
    category, severity = meaning(rule)
    return {
        "line": found["location"]["row"],
        "column": found["location"]["column"],
        "endLine": found["end_location"]["row"],
        "endColumn": found["end_location"]["column"],
        "rule": rule,
        "name": found.get("name") or (url or rule).rpartition("/")[2],
        "message": found["message"][:1000],
        "severity": severity,
        "category": category,
        "url": url,
        "fix": (found["fix"] or {}).get("message"),
    }


def collect(process):
    """Collects the findings in the order of the code. Those beyond the limits are only counted."""
    listed, room, is_full = [], context["maxBytes"] - 600, False
    categories, severities = (dict.fromkeys(context[kinds], 0) for kinds in ("categories", "severities"))
    for line in process.stdout:
        found = json.loads(line)
        rule = found["code"] or found.get("name") or "invalid-syntax"
        category, severity = meaning(rule)
        categories[category] += 1
        severities[severity] += 1
        if not is_full:
            finding = describe(rule, found)
            room -= len(json.dumps(finding)) + 2
            is_full = room < 0 or len(listed) == context["maxFindings"]
            if not is_full:
                listed.append(finding)
    listed.sort(key=lambda one: (one["line"], one["column"]))
    total = sum(severities.values())
    summary = {"total": total, "omitted": total - len(listed), "bySeverity": severities, "byCategory": categories}
    return {"findings": listed, "summary": summary}


# This ruff may not know a newer Python: then it runs without a target version.
for options in ["--target-version", "py%d%d" % sys.version_info[:2]], []:
    process = start(*options)
    report = collect(process)
    if process.wait() == 0:
        print(json.dumps(report))
        break
else:
    with open("problem", encoding="utf-8", errors="replace") as problem:
        sys.exit("ruff: " + " ".join(problem.read()[-2000:].split()))
`;
