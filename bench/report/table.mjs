// Formats a table for the terminal and for Markdown.
export function table(head, rows) {
  const lines = [head, ...rows].map((cells) => cells.map(String));
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column].length)));
  const draw = (cells) => `| ${cells.map((cell, column) => pad(cell, widths[column], column)).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  const [first, ...rest] = lines.map(draw);
  return [first, rule, ...rest].join('\n');
}

const pad = (cell, width, column) => (column === 0 ? cell.padEnd(width) : cell.padStart(width));

/** Formats three significant digits; more would be noise. */
export function figure(value, unit = '') {
  if (value === undefined || Number.isNaN(value)) return '–';
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return `${value.toFixed(digits)}${unit}`;
}
