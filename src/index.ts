/** The library: start Pungi, run Python, read outcomes and the audit trail. */
export { auditFolder } from './audit/folder.js';
export { openTrailForReading, type TrailReader } from './audit/trail-reader.js';
export { ERROR_CODES, type ErrorCode, PungiError } from './base/errors.js';
export { createLogger, type Logger, silentLogger } from './base/logger.js';
export { VERSION } from './base/version.js';
export { loadConfig } from './config/load.js';
export { Config } from './config/schema.js';
export { Analysis, type AnalysisOptions, AnalysisRequest, Finding } from './contract/analysis.js';
export { type AuditEntry, AuditQuery, AuditVerification, type Replay } from './contract/audit.js';
export type { Caller } from './contract/caller.js';
export { CodeSummary, Disclosure } from './contract/disclosure.js';
export {
  CleanReport,
  EnvironmentInfo,
  PackageInfo,
  PackageReport,
  PackageResult,
  type StepOptions,
} from './contract/environment.js';
export { Alert, Health } from './contract/health.js';
export { DEFAULT_LIMITS, Limits } from './contract/limits.js';
export {
  Outcome,
  PythonException,
  ScopeViolation,
  Tier,
  Verdict,
  type VerdictKind,
} from './contract/outcome.js';
export { type Profile, ProfileDefinition } from './contract/profile.js';
export { FunctionCall, type OutputLine, type RunOptions, RunRequest } from './contract/run.js';
export { TestSpecification } from './contract/spec.js';
export { TestReport } from './contract/test-report.js';
export { Discovery, ToolSpec, ToolsFile } from './contract/wrap.js';
export type { CleanRequest } from './environments/cleaning.js';
export type {
  CreateRequest,
  DeleteRequest,
  Environments,
  InstallOptions,
} from './environments/environments.js';
export type { PythonRunner, ScriptContext } from './harness/validate/runner.js';
export type { ExecuteOptions, PythonScript } from './harness/validate/script-engine.js';
export type { ScriptFailure, ScriptLog, ScriptResult } from './harness/validate/script-result.js';
export { SCRIPT_ERROR_KINDS, ScriptError, type ScriptErrorKind } from './harness/validate/script-result.js';
export { PythonEngine, type PythonEngineConfig } from './pungi/python-engine.js';
export { type CompiledScript, type Door, Pungi } from './pungi.js';
