/** The library: start Pungi, run Python, read outcomes. */
export { ERROR_CODES, type ErrorCode, PungiError } from './base/errors.js';
export { createLogger, type Logger, silentLogger } from './base/logger.js';
export { VERSION } from './base/version.js';
export { loadConfig } from './config/load.js';
export { Config } from './config/schema.js';
export { Analysis, type AnalysisOptions, AnalysisRequest, Finding } from './contract/analysis.js';
export {
  CleanReport,
  EnvironmentInfo,
  PackageInfo,
  PackageReport,
  PackageResult,
  type StepOptions,
} from './contract/environment.js';
export { Health } from './contract/health.js';
export { DEFAULT_LIMITS, Limits } from './contract/limits.js';
export { Outcome, PythonException, Tier, Verdict, type VerdictKind } from './contract/outcome.js';
export { type OutputLine, type RunOptions, RunRequest } from './contract/run.js';
export type { CleanRequest } from './environments/cleaning.js';
export type {
  CreateRequest,
  DeleteRequest,
  Environments,
  InstallOptions,
} from './environments/environments.js';
export { type CompiledScript, Pungi } from './pungi.js';
