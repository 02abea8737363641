/**
 * The most entries of lists and maps in a request. Checked before the schema, which would report each entry
 * separately.
 */
const MOST: Readonly<Record<string, number>> = {
  inputData: 100_000,
  argv: 1024,
  files: 1000,
  preload: 1000,
  packages: 200,
  env: 1000,
  limits: 100,
};
const MOST_ARGUMENTS = 1000;
/** More invalid lines than this are reported as one fault. */
const MOST_FAULTY = 20;

/** Returns the faults of oversized fields; the schema reports anything that is not an object. */
export function tooMany(request: unknown): string[] {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return [];
  const count = Object.keys(request).length;
  if (count > MOST_ARGUMENTS) return [`has ${count} arguments; expected at most ${MOST_ARGUMENTS}`];
  return Object.entries(MOST).flatMap(([name, most]) => {
    const value = (request as Record<string, unknown>)[name];
    if (typeof value !== 'object' || value === null) return [];
    const size = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (size > most)
      return [`${name}: must have at most ${most} ${Array.isArray(value) ? 'items' : 'names'}`];
    if (!Array.isArray(value)) return [];
    return name === 'inputData' ? faultyLines(value) : name === 'files' ? faultyFiles(value) : [];
  });
}

function faultyLines(lines: readonly unknown[]): string[] {
  const faulty = lines.reduce<number>((sum, line) => sum + (typeof line === 'string' ? 0 : 1), 0);
  return faulty > MOST_FAULTY ? [`inputData: ${faulty} items are not texts`] : [];
}

function faultyFiles(files: readonly unknown[]): string[] {
  const index = files.findIndex((file) => Object.keys(Object(file)).length > MOST_FAULTY);
  return index < 0 ? [] : [`files.${index}: must have a path, and text or base64, and nothing else`];
}
