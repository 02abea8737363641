import { revealed } from '../../base/terminal/printable.js';

// What XML 1.0 cannot hold, not even escaped. `revealed` has dealt with the rest of the control characters.
const IMPOSSIBLE = /[\uFFFE\uFFFF]|\p{Surrogate}/gu;

const holdable = (text: string): string => revealed(text).replace(IMPOSSIBLE, '�');

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\t': '&#9;',
};

const CDATA = '<![CDATA[';

export type Attributes = Record<string, string | number | undefined>;

export function element(name: string, attributes: Attributes, ...children: readonly string[]): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const head = [name, ...given.map(([key, value]) => `${key}="${attribute(String(value))}"`)].join(' ');
  const inner = children.filter((child) => child !== '').join('\n');
  if (inner === '') return `<${head}/>`;
  // White space around text would be part of it.
  return inner.startsWith(CDATA) ? `<${head}>${inner}</${name}>` : `<${head}>\n${inner}\n</${name}>`;
}

const attribute = (text: string): string => holdable(text).replace(/[&<>"\n\t]/g, (one) => ENTITIES[one]!);

/** A section whose end stands in the text is ended before it, and begun anew. */
export const cdata = (text: string): string =>
  text === '' ? '' : `${CDATA}${holdable(text).replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
