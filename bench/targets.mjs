// The targets of the bench. A target computes a figure from the results; undefined if it was not measured.
import { AUDIT_TARGETS } from './audit.mjs';
import { ENVIRONMENT_TARGETS } from './environments.mjs';
import { HARNESS_TARGETS } from './harness.mjs';
import { PRINT_TARGETS } from './prints.mjs';
import { RESPONSIVENESS_TARGETS } from './responsiveness.mjs';
import { STRATEGIC_TARGETS } from './strategic.mjs';
import { WRAP_TARGETS } from './wrap.mjs';

const row = (results, workload, id) => results.workloads[workload]?.find((one) => one.id === id);

const ratio = (workload, id, figure) => (results) => {
  const own = row(results, workload, id);
  const bare = row(results, workload, 'bare');
  return own?.gap?.[figure] && bare?.gap ? own.gap[figure] / bare.gap.median : undefined;
};

const rateRatio = (workload) => (results) => {
  const own = row(results, workload, 'library')?.rate;
  const bare = row(results, workload, 'bare')?.rate;
  return own && bare ? own / bare : undefined;
};

const rate = (workload) => (results) => row(results, workload, 'library')?.rate;
const memory = (workload) => (results) => results.memory[workload]?.worker;
const initialize = ({ initialize: { pungiMs, emptyMs } }) => pungiMs / emptyMs;

export const TARGETS = [
  {
    about: 'print(1), library, median',
    atMost: 0.12,
    unit: '×',
    measure: ratio('print(1)', 'library', 'median'),
  },
  {
    about: 'print(1), MCP stdio modern, median',
    atMost: 0.2,
    unit: '×',
    measure: ratio('print(1)', 'mcp-modern', 'median'),
  },
  {
    about: 'print(1), MCP stdio legacy, median',
    atMost: 0.2,
    unit: '×',
    measure: ratio('print(1)', 'mcp-legacy', 'median'),
  },
  {
    about: 'pandas sum, library, median',
    atMost: 0.03,
    unit: '×',
    measure: ratio('pandas sum', 'library', 'median'),
  },
  { about: 'print(1), library, p99', below: 1, unit: '×', measure: ratio('print(1)', 'library', 'p99') },
  {
    about: 'print(1), MCP stdio modern, p99',
    below: 1,
    unit: '×',
    measure: ratio('print(1)', 'mcp-modern', 'p99'),
  },
  {
    about: 'print(1), MCP stdio legacy, p99',
    below: 1,
    unit: '×',
    measure: ratio('print(1)', 'mcp-legacy', 'p99'),
  },
  { about: 'pandas sum, library, p99', below: 1, unit: '×', measure: ratio('pandas sum', 'library', 'p99') },
  { about: 'print(1), 8 at once, library: rate', atLeast: 2.5, unit: '×', measure: rateRatio('print(1)') },
  { about: 'pandas sum, 8 at once, library: rate', atLeast: 20, unit: '×', measure: rateRatio('pandas sum') },
  { about: 'print(1), 8 at once, library: rate', atLeast: 200, unit: ' runs/s', measure: rate('print(1)') },
  { about: 'private memory of a parked worker', atMost: 6, unit: ' MB', measure: memory('print(1)') },
  { about: 'the same with pandas preloaded', atMost: 6, unit: ' MB', measure: memory('pandas sum') },
  { about: '`initialize`, to an empty server of the same SDK', atMost: 3, unit: '×', measure: initialize },
  ...PRINT_TARGETS,
  ...ENVIRONMENT_TARGETS,
  ...STRATEGIC_TARGETS,
  ...AUDIT_TARGETS,
  ...WRAP_TARGETS,
  ...HARNESS_TARGETS,
  ...RESPONSIVENESS_TARGETS,
];

export function judge(results) {
  return TARGETS.map(({ about, unit, measure, ...limits }) => {
    const figure = measure(results);
    const [[kind, bound]] = Object.entries(limits);
    const { sign, holds } = KINDS[kind];
    const verdict = figure === undefined ? 'not measured' : holds(figure, bound) ? 'pass' : 'miss';
    return { about, limit: `${sign} ${bound}${unit}`, figure, unit, verdict };
  });
}

const KINDS = {
  atMost: { sign: '≤', holds: (figure, bound) => figure <= bound },
  below: { sign: '<', holds: (figure, bound) => figure < bound },
  atLeast: { sign: '≥', holds: (figure, bound) => figure >= bound },
};
