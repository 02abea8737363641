import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { serveCommand } from '../../packages/cli/src/serve.js';
import { workerCommand } from '../../packages/cli/src/worker.js';
import { Config, OPTIONS } from '../../packages/core/src/config/schema.js';
import { metricsText } from '../../packages/server/src/http/metrics.js';

const folder = resolve(import.meta.dirname, '../../deploy');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const README = read('README.md');
const GATEWAY = read('gateway.conf.template');

const manifests = readdirSync(join(folder, 'kubernetes')).map((name) => `kubernetes/${name}`);
const FILES = ['compose.yaml', ...manifests];

/** The documents of a file, with its anchors and merge keys resolved. */
const documentsOf = (name: string) =>
  parseAllDocuments(read(name), { merge: true, uniqueKeys: true }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    return document.toJS() as Record<string, never>;
  });

/** A container of Pungi's image: what it runs, and with which variables. */
interface Container {
  where: string;
  image: string;
  args: string[];
  env: Record<string, string>;
  graceSeconds: number | undefined;
}

const composed = (): Container[] => {
  const [{ services }] = documentsOf('compose.yaml') as unknown as [
    {
      services: Record<
        string,
        { image: string; command?: string[]; environment?: object; stop_grace_period?: string }
      >;
    },
  ];
  return Object.entries(services).map(([name, { image, command = [], environment = {}, ...rest }]) => ({
    where: `compose.yaml: ${name}`,
    image,
    args: command,
    env: Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, `${value}`])),
    graceSeconds: rest.stop_grace_period ? Number.parseInt(rest.stop_grace_period, 10) : undefined,
  }));
};

interface PodSpec {
  terminationGracePeriodSeconds?: number;
  containers: { name: string; image: string; args?: string[]; env?: { name: string; value?: string }[] }[];
}

const pods = (): Container[] =>
  manifests.flatMap((file) =>
    documentsOf(file).flatMap((document) => {
      const { template } = ((document as { spec?: object }).spec ?? {}) as { template?: { spec: PodSpec } };
      return (template?.spec.containers ?? []).map(({ name, image, args = [], env = [] }) => ({
        where: `${file}: ${name}`,
        image,
        args,
        env: Object.fromEntries(env.map((variable) => [variable.name, variable.value ?? ''])),
        graceSeconds: template!.spec.terminationGracePeriodSeconds,
      }));
    }),
  );

const all = [...composed(), ...pods()];
const own = all.filter(({ image }) => image === 'pungi');

test.each(FILES)('%s is YAML without errors', (name) => {
  expect(documentsOf(name).length).toBeGreaterThan(0);
});

test('kustomization.yaml names every manifest', () => {
  const [{ resources }] = documentsOf('kubernetes/kustomization.yaml') as unknown as [
    { resources: string[] },
  ];
  const others = manifests.map((name) => name.split('/')[1]!).filter((name) => name !== 'kustomization.yaml');
  expect(resources.toSorted()).toEqual(others.toSorted());
});

describe.each(own)('$where', ({ args, env, graceSeconds }) => {
  const [name = '', ...rest] = args;
  const command = { serve: serveCommand, worker: workerCommand }[name]!(() => {}) as Command;

  test('has flags that exist', () => {
    const known = command.options.map(({ long }) => long);
    expect(known).toEqual(expect.arrayContaining(rest.filter((word) => word.startsWith('--'))));
  });

  test('has variables that exist, with values that they take', () => {
    const { POD_NAME: _, ...settings } = env;
    const byVariable = new Map(
      Object.entries(OPTIONS).map(([key, option]) => [option.env, { key, ...option }]),
    );
    for (const [variable, value] of Object.entries(settings)) {
      expect([...byVariable.keys()]).toContain(variable);
      const { key, schema } = byVariable.get(variable)!;
      expect(schema.safeParse(value), variable).toMatchObject({ success: true });
      // A worker takes only some of the settings.
      const flag = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      expect(command.options.map(({ long }) => long)).toContain(flag);
    }
    expect(settings).toMatchObject({ PUNGI_CLUSTER: 'tls://nats:4222', PUNGI_CREDS: expect.any(String) });
  });

  test('has the time to finish its runs, if it is a worker', () => {
    if (name !== 'worker') return;
    expect(graceSeconds! * 1000).toBeGreaterThan(Config.parse({}).maxRequestTimeoutMs);
  });
});

test('there are a front end and workers in both', () => {
  const roles = (some: Container[]) =>
    some.filter(({ image }) => image === 'pungi').map(({ args }) => args[0]);
  expect(roles(composed()).toSorted()).toEqual(['serve', 'worker', 'worker']);
  expect(roles(pods()).toSorted()).toEqual(['serve', 'worker']);
});

test('the gateway leads to the front end, and is the same in both', () => {
  const addresses = own.filter(({ args }) => args[0] === 'serve').map(({ args }) => args.at(-1));
  const leads = [...GATEWAY.matchAll(/proxy_pass http:\/\/(\S+);/g)].map((match) => match[1]);
  expect(new Set([...addresses, ...leads])).toEqual(new Set(['127.0.0.1:8765']));
  const map = documentsOf('kubernetes/front.yaml').find(({ kind }) => kind === 'ConfigMap') as unknown as {
    data: Record<string, string>;
  };
  expect(map.data['default.conf.template']).toBe(GATEWAY);
});

test('a front end of compose shares the network of its gateway, which outlives it', () => {
  const [{ services }] = documentsOf('compose.yaml') as unknown as [
    { services: Record<string, { network_mode?: string; ports?: string[] }> },
  ];
  expect(services.front).toMatchObject({ network_mode: 'service:gateway' });
  expect(services.gateway!.network_mode).toBeUndefined();
  expect(services.gateway!.ports).toEqual(['127.0.0.1:8080:8080']);
});

test('NATS is the version that the tests run', () => {
  const source = readFileSync(
    resolve(folder, '../packages/core/src/environments/packaging/nats-server.ts'),
    'utf8',
  );
  const [, version] = /VERSION = '(\S+)'/.exec(source)!;
  const images = all.map(({ image }) => image).filter((image) => image.startsWith('nats:'));
  expect(images).toEqual([`nats:${version}`, `nats:${version}`]);
});

test('the autoscaler asks for metrics that a front end has', () => {
  const [, query] = /query: (.+)/.exec(read('kubernetes/autoscaling.yaml'))!;
  const served = metricsText({
    status: 'healthy',
    version: '1',
    metrics: { verdicts: {} },
    queue: { active: 0, waiting: 0, capacity: 0 },
    cluster: { name: 'main', waiting: 0, queued: 0, workers: [] },
  } as never);
  const names = query!.match(/pungi_\w+/g)!;
  expect(names).toHaveLength(3);
  for (const name of names) expect(served).toMatch(new RegExp(`^${name} 0$`, 'm'));
});

test('every Secret that the manifests use is created by the commands of the README', () => {
  const text = manifests.map(read).join('\n');
  const used = [...text.matchAll(/secretName: ([\w-]+)|secretKeyRef: \{ name: ([\w-]+)/g)];
  const names = new Set(used.map((match) => match[1] ?? match[2]));
  const made = new Set([...README.matchAll(/create secret generic ([\w-]+)/g)].map((match) => match[1]));
  expect(names).toEqual(made);
});
