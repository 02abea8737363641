/** The library: start Pungi, run Python, read outcomes and the audit trail. */

export { type CheckpointState, type CompiledScript, type Door, Pungi } from '@pungi/core';
export { auditFolder, openTrailForReading, type TrailReader } from '@pungi/core/audit';
export {
  createLogger,
  ERROR_CODES,
  type ErrorCode,
  type Logger,
  PungiError,
  silentLogger,
  VERSION,
} from '@pungi/core/base';
export { Config, loadConfig } from '@pungi/core/config';
export type { Caller } from '@pungi/core/contract';
export {
  Alert,
  Analysis,
  type AnalysisOptions,
  AnalysisRequest,
  type ArtifactContent,
  type AuditEntry,
  AuditQuery,
  AuditVerification,
  BackgroundRun,
  type BackgroundRunInfo,
  CleanReport,
  CodeSummary,
  DEFAULT_LIMITS,
  Disclosure,
  Discovery,
  EnvironmentInfo,
  Finding,
  FunctionCall,
  Health,
  Limits,
  Outcome,
  type OutputLine,
  PackageInfo,
  PackageReport,
  PackageResult,
  type Profile,
  ProfileDefinition,
  PythonException,
  type Replay,
  type RunOptions,
  RunRequest,
  ScopeViolation,
  type SessionInfo,
  type SessionState,
  type StepOptions,
  TestReport,
  TestSpecification,
  Tier,
  ToolSpec,
  ToolsFile,
  Verdict,
  type VerdictKind,
} from '@pungi/core/contract';
export type {
  CleanRequest,
  CreateRequest,
  DeleteRequest,
  Environments,
  InstallOptions,
} from '@pungi/core/environments';
export type {
  ExecuteOptions,
  PythonRunner,
  PythonScript,
  ScriptContext,
  ScriptFailure,
  ScriptLog,
  ScriptResult,
} from '@pungi/harness';
export {
  PythonEngine,
  type PythonEngineConfig,
  SCRIPT_ERROR_KINDS,
  ScriptError,
  type ScriptErrorKind,
} from '@pungi/harness';
