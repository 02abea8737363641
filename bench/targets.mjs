// The targets of the bench. A target computes a figure from the results; undefined if it was not measured.
import { AUDIT_TARGETS } from './audit.mjs';
import { COMMAND_LINE_TARGETS } from './command-line.mjs';
import { ENVIRONMENT_TARGETS } from './environments.mjs';
import { HARNESS_TARGETS } from './harness.mjs';
import { LEARNED_TARGETS } from './learned.mjs';
import { PRINT_TARGETS } from './prints.mjs';
import { RESPONSIVENESS_TARGETS } from './responsiveness.mjs';
import { SESSION_TARGETS } from './sessions.mjs';
import { STRATEGIC_TARGETS } from './strategic.mjs';
import { WRAP_TARGETS } from './wrap.mjs';

const row = (results, workload, id) => results.workloads[workload]?.find((one) => one.id === id);

/** A figure of calls with a gap, or back to back, to the median of the bare spawn in the same column. */
const ratio =
  (workload, id, figure, column = 'gap') =>
  (results) => {
    const own = row(results, workload, id)?.[column]?.[figure];
    const bare = row(results, workload, 'bare')?.[column]?.median;
    return own && bare ? own / bare : undefined;
  };

const rateRatio = (workload, id) => (results) => {
  const own = row(results, workload, id)?.rate;
  const bare = row(results, workload, 'bare')?.rate;
  return own && bare ? own / bare : undefined;
};

const memory = (results) => {
  const use = results.memory['pandas sum'];
  return use && use.worker + use.supervisor;
};
const initialize = ({ initialize: { pungiMs, emptyMs } }) => pungiMs / emptyMs;

const [PRINT, SUM] = ['print(1)', 'pandas sum'];
const MODERN = 'mcp-modern';
const LEGACY = 'mcp-legacy';

const atMost = (about, bound, measure, unit = '×') => ({ about, atMost: bound, unit, measure });
const atLeast = (about, bound, measure, unit = '×') => ({ about, atLeast: bound, unit, measure });

export const TARGETS = [
  atMost('print(1), library, median', 0.06, ratio(PRINT, 'library', 'median')),
  atMost('print(1), MCP stdio modern, median', 0.1, ratio(PRINT, MODERN, 'median')),
  atMost('print(1), MCP stdio legacy, median', 0.1, ratio(PRINT, LEGACY, 'median')),
  atMost('print(1), library, p99', 0.25, ratio(PRINT, 'library', 'p99')),
  atMost('print(1), MCP stdio modern, p99', 0.25, ratio(PRINT, MODERN, 'p99')),
  atMost('print(1), MCP stdio legacy, p99', 0.25, ratio(PRINT, LEGACY, 'p99')),
  atMost('print(1), library, back to back', 0.1, ratio(PRINT, 'library', 'median', 'backToBack')),
  atMost('print(1), MCP stdio modern, back to back', 0.14, ratio(PRINT, MODERN, 'median', 'backToBack')),
  atLeast('print(1), 8 at once, library: rate', 5.5, rateRatio(PRINT, 'library')),
  atLeast('print(1), 8 at once, MCP stdio modern: rate', 4, rateRatio(PRINT, MODERN)),
  atMost('print(1), 8 at once: total CPU of a run', 2.3, ({ cpu }) => cpu?.cpuMs, ' ms'),
  atMost('pandas sum, library, median', 0.03, ratio(SUM, 'library', 'median')),
  atMost('pandas sum, library, p99', 0.25, ratio(SUM, 'library', 'p99')),
  atLeast('pandas sum, 8 at once, library: rate', 45, rateRatio(SUM, 'library')),
  atMost('private memory of worker and supervisor with pandas', 5, memory, ' MB'),
  atMost('`initialize`, to an empty server of the same SDK', 1.4, initialize),
  ...LEARNED_TARGETS,
  ...COMMAND_LINE_TARGETS,
  ...PRINT_TARGETS,
  ...SESSION_TARGETS,
  ...ENVIRONMENT_TARGETS,
  ...STRATEGIC_TARGETS,
  ...AUDIT_TARGETS,
  ...WRAP_TARGETS,
  ...HARNESS_TARGETS,
  ...RESPONSIVENESS_TARGETS,
];

export function judge(results, targets = TARGETS) {
  return targets.map(({ about, unit, measure, ...limits }) => {
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
