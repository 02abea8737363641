import type { ClusterHealth, Health } from '@pungi/core/contract';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

interface Metric {
  name: string;
  type: 'gauge' | 'counter';
  help: string;
  samples: readonly [labels: Readonly<Record<string, string>>, value: number][];
}

/** The figures of a server in the text format of Prometheus. Those of a cluster are what its autoscaler needs. */
export const metricsText = (health: Health): string =>
  [...ownMetrics(health), ...(health.cluster ? clusterMetrics(health.cluster) : [])].map(textOf).join('');

function ownMetrics({ metrics, queue, version, status, cluster }: Health): Metric[] {
  const verdicts = Object.entries(metrics.verdicts);
  return [
    gauge('pungi_up', 'whether runs are possible', status === 'unhealthy' ? 0 : 1, { version }),
    gauge('pungi_runs_active', 'runs that have their turn', queue.active),
    gauge(
      'pungi_runs_waiting',
      'runs that wait, for their turn or a worker',
      cluster?.waiting ?? queue.waiting,
    ),
    {
      name: 'pungi_runs_total',
      type: 'counter',
      help: 'runs that have ended, by verdict',
      samples: verdicts.map(([verdict, count]) => [{ verdict }, count]),
    },
  ];
}

function clusterMetrics({ workers, queued }: ClusterHealth): Metric[] {
  const ready = workers.filter(({ state }) => state === 'ready');
  const sum = (name: 'slots' | 'busy' | 'sessions') =>
    ready.reduce((total, worker) => total + worker[name], 0);
  const states = [...new Set(['ready', ...workers.map(({ state }) => state)])];
  return [
    {
      name: 'pungi_cluster_workers',
      type: 'gauge',
      help: 'workers that this front end hears or has lost, by state',
      samples: states.map((state) => [{ state }, workers.filter((one) => one.state === state).length]),
    },
    gauge('pungi_cluster_runs_queued', 'background runs that no front end has taken yet', queued),
    gauge('pungi_cluster_slots', 'runs that the ready workers take at the same time', sum('slots')),
    gauge('pungi_cluster_slots_busy', 'slots of the ready workers that are taken', sum('busy')),
    gauge('pungi_cluster_sessions', 'sessions on the ready workers', sum('sessions')),
  ];
}

const gauge = (name: string, help: string, value: number, labels = {}): Metric => ({
  name,
  type: 'gauge',
  help,
  samples: [[labels, value]],
});

function textOf({ name, type, help, samples }: Metric): string {
  const lines = samples.map(([labels, value]) => `${name}${labelsText(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
