/**
 * `error`: violates the protocol or misleads; `warning`: models will perform worse; `advice`: a possible
 * improvement.
 */
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
type Rule = (typeof RULES)[number];

/** A remark about something that a server offers. */
export interface LintRemark {
  severity: Severity;
  /** The name of the rule, for --ignore. */
  rule: Rule;
  /** For example "tool add", "prompt greet", "server". */
  subject: string;
  message: string;
}

/** Reports a remark about one subject. */
export type Report = (severity: Severity, rule: Rule, message: string) => void;

const SHORTEST = 15;
const LONGEST = 4000;
/** Characters that are invisible to people but not to models: tags, zero-width joiners, direction marks. */
const HIDDEN = /[\u200B\u2060-\u2064\u202A-\u202E\u2066-\u2069\uFEFF\u{E0000}-\u{E007F}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/;

/** A model knows only the description. */
export function lintDescription(description: unknown, what: string, report: Report): void {
  if (typeof description !== 'string' || description.trim() === '') {
    report('warning', 'description', `${what} has no description: a model can only guess what it is for.`);
    return;
  }
  const { length } = description.trim();
  if (length < SHORTEST)
    report(
      'warning',
      'description-length',
      `The description of ${what} is too short to be useful: ${JSON.stringify(description)}.`,
    );
  if (length > LONGEST)
    report(
      'advice',
      'description-length',
      `The description of ${what} has ${length} characters, which cost tokens in every request to a model.`,
    );
  lintHidden(description, `The description of ${what}`, report);
}

export function lintHidden(text: string, what: string, report: Report): void {
  const found = HIDDEN.exec(text) ?? CONTROL.exec(text);
  if (found === null) return;
  const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  report(
    'error',
    'hidden-text',
    `${what} contains characters that are invisible to people but read by models (U+${code}).`,
  );
}
