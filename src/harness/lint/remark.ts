/** `error`: against the protocol, or it misleads; `warning`: models will use it worse; `advice`: it could say more. */
export type Severity = 'error' | 'warning' | 'advice';

/** One thing about what a server offers. */
export interface LintRemark {
  severity: Severity;
  /** The name of the rule, for those who want to leave it out. */
  rule: string;
  /** "tool add", "prompt greet", "server". */
  subject: string;
  message: string;
}

/** Tells of one subject. */
export type Tell = (severity: Severity, rule: string, message: string) => void;
