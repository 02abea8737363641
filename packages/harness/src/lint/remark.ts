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
type Rule = (typeof RULES)[number];

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

const SHORTEST = 15;
const LONGEST = 4000;
/** Characters that a person does not see and a model reads: tags, joiners of nothing, marks of direction. */
const HIDDEN = /[\u200B\u2060-\u2064\u202A-\u202E\u2066-\u2069\uFEFF\u{E0000}-\u{E007F}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/;

/** A description is all that a model knows. */
export function lintDescription(description: unknown, what: string, tell: Tell): void {
  if (typeof description !== 'string' || description.trim() === '') {
    tell('warning', 'description', `${what} has no description: a model can only guess what it is for.`);
    return;
  }
  const { length } = description.trim();
  if (length < SHORTEST)
    tell(
      'warning',
      'description-length',
      `The description of ${what} says next to nothing: ${JSON.stringify(description)}.`,
    );
  if (length > LONGEST)
    tell(
      'advice',
      'description-length',
      `The description of ${what} has ${length} characters, which every request to a model pays for.`,
    );
  lintHidden(description, `The description of ${what}`, tell);
}

export function lintHidden(text: string, what: string, tell: Tell): void {
  const found = HIDDEN.exec(text) ?? CONTROL.exec(text);
  if (found === null) return;
  const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  tell(
    'error',
    'hidden-text',
    `${what} holds characters that a person does not see and a model reads (U+${code}).`,
  );
}
