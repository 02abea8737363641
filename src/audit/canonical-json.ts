/**
 * JSON with one spelling for each value: keys in the order of their UTF-16 units, no blanks (RFC 8785). Written
 * by hand because an object cannot hold keys such as "10" and "9" in that order; and as loops, because every run
 * waits for it.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    // A million numbers are written as fast as the platform can.
    if (value.every(isPlain)) return JSON.stringify(value);
    for (const item of value) text += `${text === '' ? '[' : ','}${canonicalJson(item)}`;
    return text === '' ? '[]' : `${text}]`;
  }
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    text += `${text === '' ? '{' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`;
  }
  return text === '' ? '{}' : `${text}}`;
}

const isPlain = (value: unknown) => typeof value !== 'object' || value === null;
