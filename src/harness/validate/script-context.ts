/** What a script knows of the call that it judges. It sees this as `context`, in real Python values. */
export interface ScriptContext {
  /** What was sent: {method, params}. Absent, it is None. */
  request?: unknown;
  /** What came back: the result, or {error: {code, message, data}}. Before the call it is None. */
  response?: unknown;
  metadata?: ScriptMetadata;
  /** Those of the specification and of the matrix, and what was captured. */
  variables?: Readonly<Record<string, unknown>>;
  /** What other scripts left. A script changes it by its variable `session`. */
  session?: Readonly<Record<string, unknown>>;
  /** Tests that have ended, by their id. */
  results?: Readonly<Record<string, unknown>>;
  /** Anything else. */
  custom?: unknown;
}

export interface ScriptMetadata {
  test_name?: string;
  /** The tool, the resource or the prompt. */
  tool_name?: string;
  server_info?: unknown;
  phase?: 'before' | 'after';
  /** Which of the repeated calls, from 0. */
  index?: number;
  [more: string]: unknown;
}
