/** `error`: against the protocol, or it misleads; `warning`: models will use it worse; `advice`: it could say more. */
export type Severity = 'error' | 'warning' | 'advice';

export const RULES = [
  'annotations',
  'array-items',
  'default',
  'description',
  'description-length',
  'hidden-text',
  'input-schema',
  'lists',
  'many-parameters',
  'mime-type',
  'name',
  'output-schema',
  'parameter-description',
  'parameter-type',
  'required',
  'server-info',
  'size',
  'spelling',
  'twice',
  'uri',
] as const;
export type Rule = (typeof RULES)[number];

/** One thing about what a server offers. */
export interface LintRemark {
  severity: Severity;
  /** The name of the rule, for those who want to leave it out. */
  rule: Rule;
  /** "tool add", "prompt greet", "server". */
  subject: string;
  message: string;
}

/** Tells of one subject. */
export type Tell = (severity: Severity, rule: Rule, message: string) => void;
