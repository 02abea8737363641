export { bench, type Measured } from './bench/bench.js';
export { type Find, Fuzzer, findsSpec, type ToolFuzzed } from './fuzz/fuzz.js';
export { FirstSpecWriter, specText } from './init/first-spec.js';
export { isDestructive, isReadOnly, nameOf, readOffer } from './init/offer.js';
export { exampleInput } from './inputs/example.js';
export { isMap, type JsonMap } from './judge/answer.js';
export { shown } from './judge/shown.js';
export type { SnapshotMode } from './judge/snapshots.js';
export { lint } from './lint/lint.js';
export { RULES, type Severity } from './lint/lint-tool.js';
export { HttpProxy } from './record/http-proxy.js';
export { Recorder, recordedSpec } from './record/recorder.js';
export {
  annotationsOf,
  appendJobSummary,
  beginSection,
  type Ci,
  countResults,
  detectCi,
  formatOfFile,
  type ReportFile,
  ReportFormat,
  TerminalReporter,
  verdictOf,
  writeReports,
} from './report/index.js';
export { connectServer, startProblem } from './run/connect.js';
export type { Connection } from './run/connection.js';
export { countPlanned, runSuite } from './run/run-suite.js';
export { ServerFault } from './run/server-fault.js';
export { startProcess } from './run/start-server.js';
export { LineReader } from './run/stdio-transport.js';
export { faultText, type SpecFault, sortedFaults, warningText } from './spec/fault.js';
export { type LoadedSpecification, loadSpecification } from './spec/load.js';
export { finishTest, plan } from './spec/plan.js';
export {
  configForScripts,
  PythonEngine,
  type PythonEngineConfig,
  SCRIPT_DEFAULTS,
} from './validate/python-engine.js';
export { engineConfigOf, PythonValidators } from './validate/python-validators.js';
export type { PythonRunner, ScriptContext } from './validate/runner.js';
export { type ExecuteOptions, type PythonScript, ScriptEngine } from './validate/script-engine.js';
export {
  SCRIPT_ERROR_KINDS,
  ScriptError,
  type ScriptErrorKind,
  type ScriptFailure,
  type ScriptLog,
  type ScriptResult,
} from './validate/script-result.js';
