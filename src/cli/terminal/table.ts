import { cutTo, type Style, widthOf } from '../../base/terminal.js';

export interface Column {
  heading: string;
  /** Numbers are compared by their ends. */
  align?: 'right';
}

/** Columns side by side. Where a width is given, the last column is cut to it. */
export function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { style, width = Number.POSITIVE_INFINITY }: { style: Style; width?: number | undefined },
): string {
  const widths = columns.map(({ heading }, index) =>
    Math.max(heading.length, ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  const line = (cells: readonly string[]) => {
    const padded = columns.map(({ align }, index) => {
      const cell = cells[index] ?? '';
      const space = ' '.repeat(widths[index]! - widthOf(cell));
      return align === 'right' ? space + cell : cell + space;
    });
    return cutTo(padded.join('  ').trimEnd(), width);
  };
  const heading = style('dim', line(columns.map((column) => column.heading)));
  return [heading, ...rows.map(line)].map((text) => `${text}\n`).join('');
}
