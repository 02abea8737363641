/** Python in a template literal: raw, without the indentation of the test around it. */
export function py(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  const lines = String.raw(strings, ...values)
    .replace(/^\n/, '')
    .replace(/\s+$/, '\n')
    .split('\n');
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join('\n');
}
