// Draws the charts of RESULTS.md as SVG, readable on light and dark pages.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { figure } from './table.mjs';

const FOLDER = new URL('../charts/', import.meta.url);
const COLORS = ['#3d7bd9', '#d9603d', '#2f9e62', '#9354c9', '#b98a14', '#c23b78', '#5b7083'];
const INK = '#7d8590';
const FONT = 'font-family="system-ui, sans-serif" font-size="13"';

/** Returns the Markdown that shows the charts. */
export function writeCharts({ workloads, concurrency }) {
  const charts = [
    ...Object.entries(workloads).map(([workload, rows]) => ({
      file: `latency-${workload.replaceAll(/\W+/g, '-').replaceAll(/^-|-$/g, '')}.svg`,
      title: `${workload}: median latency, less is better (logarithmic)`,
      svg: bars(
        rows
          .filter(({ gap }) => gap?.median)
          .map(({ name, gap }) => ({ name: plain(name), value: gap.median })),
      ),
    })),
    {
      file: 'throughput.svg',
      title: 'print(1): runs per second over the number of runs under way, more is better (logarithmic)',
      svg: lines(
        concurrency.map(({ name, points }) => ({
          name: plain(name),
          points: points.map(({ concurrency: x, rate: y }) => ({ x, y })),
        })),
        { unit: '/s', below: 'runs under way at the same time' },
      ),
    },
  ];
  return writeChartFiles(charts);
}

/** Writes the charts and returns the Markdown that shows them. */
export function writeChartFiles(charts) {
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, title, svg } of charts) writeFileSync(fileURLToPath(new URL(file, FOLDER)), svg(title));
  return charts.map(({ file, title }) => `![${title}](charts/${file})`).join('\n\n');
}

const plain = (name) => name.replaceAll('`', '');
const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const page = (width, height, title, parts) =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" ${FONT}>`,
    `<title>${escaped(title)}</title>`,
    text(12, 22, title, { weight: 'bold' }),
    ...parts,
    '</svg>\n',
  ].join('\n');

const text = (x, y, content, { anchor = 'start', weight = 'normal', color = INK } = {}) =>
  `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" font-weight="${weight}" fill="${color}">${escaped(content)}</text>`;

const round = (value) => Math.round(value * 10) / 10;

/** Powers of ten around the values. */
function scaleOf(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.ceil(Math.log10(Math.max(...values)));
  const place = (value) => (Math.log10(value) - low) / Math.max(1, high - low);
  const ticks = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  return { place, ticks };
}

/** `rows`: names and values in ms. */
export const bars = (rows) => (title) => {
  const [left, width, row] = [330, 430, 30];
  const height = 60 + rows.length * row;
  const { place, ticks } = scaleOf(rows.map(({ value }) => value));
  const grid = ticks.flatMap((tick) => {
    const x = round(left + place(tick) * width);
    return [
      `<line x1="${x}" y1="38" x2="${x}" y2="${height - 22}" stroke="${INK}" stroke-opacity="0.25"/>`,
      text(x, height - 6, `${tick} ms`, { anchor: 'middle' }),
    ];
  });
  const drawn = rows.flatMap(({ name, value }, index) => {
    const y = 42 + index * row;
    const length = Math.max(2, round(place(value) * width));
    const color = name.startsWith('Pungi') ? COLORS[0] : INK;
    return [
      text(left - 8, y + 16, name, { anchor: 'end' }),
      `<rect x="${left}" y="${y}" width="${length}" height="20" rx="3" fill="${color}"/>`,
      text(left + length + 6, y + 15, figure(value, ' ms')),
    ];
  });
  return page(left + width + 90, height, title, [...grid, ...drawn]);
};

/** `all`: lines, each with a name and points (x, y). */
export const lines =
  (all, { unit, below }) =>
  (title) => {
    const [left, top, width, height] = [60, 44, 520, 330];
    const values = all.flatMap(({ points }) => points.map(({ y }) => y));
    const levels = [...new Set(all.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b);
    const { place, ticks } = scaleOf(values);
    const doublings = (level) => Math.log2(level / levels[0]);
    const xOf = (level) => round(left + (doublings(level) / Math.max(1, doublings(levels.at(-1)))) * width);
    const yOf = (rate) => round(top + (1 - place(rate)) * height);
    const grid = [
      ...ticks.flatMap((tick) => [
        `<line x1="${left}" y1="${yOf(tick)}" x2="${left + width}" y2="${yOf(tick)}" stroke="${INK}" stroke-opacity="0.25"/>`,
        text(left - 8, yOf(tick) + 4, `${tick}${unit}`, { anchor: 'end' }),
      ]),
      ...levels.map((level) => text(xOf(level), top + height + 22, `${level}`, { anchor: 'middle' })),
      text(left + width / 2, top + height + 44, below, { anchor: 'middle' }),
    ];
    const labels = spread(all.map(({ name, points }, index) => ({ name, index, y: yOf(points.at(-1).y) })));
    const drawn = all.flatMap(({ points }, index) => {
      const color = COLORS[index % COLORS.length];
      const path = points.map(({ x, y }) => `${xOf(x)},${yOf(y)}`).join(' ');
      return [
        `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2.5"/>`,
        ...points.map(({ x, y }) => `<circle cx="${xOf(x)}" cy="${yOf(y)}" r="3.5" fill="${color}"/>`),
      ];
    });
    const named = labels.map(({ name, index, y }) =>
      text(left + width + 14, y + 4, `${name}, ${figure(all[index].points.at(-1).y, unit)}`, {
        color: COLORS[index % COLORS.length],
      }),
    );
    return page(left + width + 370, top + height + 56, title, [...grid, ...drawn, ...named]);
  };

/** Moves labels apart that would cover each other. */
function spread(labels) {
  const sorted = labels.toSorted((a, b) => a.y - b.y);
  for (let index = 1; index < sorted.length; index += 1)
    sorted[index].y = Math.max(sorted[index].y, sorted[index - 1].y + 17);
  return sorted;
}
