/** Markup that this program wrote. Everything else that gets into a page is text, and escaped. */
export class Markup {
  constructor(readonly text: string) {}
}

export type Content = Markup | string | number | undefined | readonly Content[];

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one]!);

/** A template whose values are escaped, unless such a template made them. Attributes are always quoted. */
export const html = (parts: TemplateStringsArray, ...values: readonly Content[]): Markup =>
  new Markup(parts.map((part, index) => part + rendered(values[index])).join(''));

function rendered(value: Content): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(rendered).join('');
  return escaped(String(value));
}
