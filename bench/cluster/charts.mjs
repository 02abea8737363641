// Draws the charts of CLUSTER.md.
import { bars, lines, writeChartFiles } from '../report/charts.mjs';

/** Returns the Markdown that shows the charts. A part that was not measured has none. */
export function writeClusterCharts({ overhead, throughput, simulation }) {
  const charts = [];
  if (overhead)
    charts.push({
      file: 'cluster-latency.svg',
      title: 'print(1): median latency, less is better (logarithmic)',
      svg: bars(overhead.rows.map(({ name, gap }) => ({ name, value: gap.median }))),
    });
  if (throughput)
    charts.push({
      file: 'cluster-workers.svg',
      title: 'Runs per second of one and two workers with a core each (logarithmic)',
      svg: lines(
        throughput.kinds.map(({ name, one, two }) => ({
          name,
          points: [
            { x: 1, y: one.rate },
            { x: 2, y: two.rate },
          ],
        })),
        { unit: '/s', below: 'workers' },
      ),
    });
  if (simulation)
    charts.push({
      file: 'cluster-routing.svg',
      title: 'Time to find a worker over runs per second, 200 simulated workers (logarithmic)',
      svg: lines(
        ['median', 'p99'].map((name) => ({
          name,
          points: simulation.rows
            .filter(({ routing }) => routing[name] !== undefined)
            .map(({ rate, routing }) => ({ x: rate, y: routing[name] })),
        })),
        { unit: ' ms', below: 'runs per second' },
      ),
    });
  return writeChartFiles(charts);
}
