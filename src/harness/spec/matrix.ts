/** More than this is a mistake, or a loop that belongs into a script. */
export const MAX_ROWS = 1000;

export type Row = Readonly<Record<string, unknown>>;

/** All combinations, the last name changing fastest. Undefined where there are too many. */
export function expandMatrix(matrix: Readonly<Record<string, readonly unknown[]>>): Row[] | undefined {
  const count = Object.values(matrix).reduce((product, values) => product * values.length, 1);
  if (count > MAX_ROWS) return undefined;
  return Object.entries(matrix).reduce<Row[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );
}

const MAX_VALUE = 30;

/** For names: [a=1, b="x"]. */
export function rowText(row: Row): string {
  const parts = Object.entries(row).map(([name, value]) => {
    const text = typeof value === 'string' && /^[\w.-]+$/.test(value) ? value : JSON.stringify(value);
    return `${name}=${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text}`;
  });
  return `[${parts.join(', ')}]`;
}
