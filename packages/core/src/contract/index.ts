export { Analysis, type AnalysisOptions, AnalysisRequest, Finding } from './analysis.js';
export {
  AUDIT_KINDS,
  type AuditEntry,
  type AuditHead,
  AuditQuery,
  AuditVerification,
  type Replay,
} from './audit.js';
export { BackgroundRun, type BackgroundRunInfo } from './background.js';
export { type Caller, CLI, callerOf, ownerOf } from './caller.js';
export { CodeSummary, Disclosure } from './disclosure.js';
export { displayContent, displayFile, displayStem, isPicture } from './display-files.js';
export {
  CleanReport,
  type EnvironmentEvent,
  EnvironmentInfo,
  type EnvironmentLock,
  type OnStep,
  PackageInfo,
  PackageReport,
  PackageResult,
  type StepOptions,
} from './environment.js';
export type { FilesOverview, FolderList, ListedEntry } from './files.js';
export { Alert, ClusterHealth, type ClusterWorkerHealth, Health } from './health.js';
export { DEFAULT_LIMITS, Limits, type RequestedLimits } from './limits.js';
export {
  Artifact,
  buildOutcome,
  Display,
  type Isolation,
  isSandboxed,
  Outcome,
  type Output,
  PythonException,
  ScopeViolation,
  Tier,
  type Usage,
  Value,
  Verdict,
  type VerdictKind,
} from './outcome.js';
export { Operation, OUTPUT_STYLES, type Profile, ProfileDefinition } from './profile.js';
export { type Completion, PromptInput, type PromptRequest } from './prompt.js';
export {
  type ArtifactContent,
  FunctionCall,
  type InputFile,
  type LocalInputs,
  MAX_CODE_BYTES,
  type OutputLine,
  type RunOptions,
  RunRequest,
} from './run.js';
export { SessionInfo, SessionState } from './session.js';
export {
  Expected,
  FieldExpectation,
  Retry,
  type ScriptConfig,
  ServerUnderTest,
  Step,
  TestCase,
  TestSpecification,
  ValidationScript,
} from './spec.js';
export {
  type Counts,
  type Failure,
  type LogLine,
  type ScriptRun,
  type SuiteReport,
  TestReport,
  type TestResult,
  type TestStatus,
} from './test-report.js';
export { exitCodeOf, exitOfCode, failure, VERDICT_KINDS } from './verdicts.js';
export {
  type ArgvRule,
  type DiscoverRequest,
  Discovery,
  type FunctionTool,
  type Inspection,
  type ObjectSchema,
  Remark,
  type ScriptTool,
  ToolSpec,
  ToolsFile,
  WRAP_MODES,
  type WrapMode,
} from './wrap.js';
