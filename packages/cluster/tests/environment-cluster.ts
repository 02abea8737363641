import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type PackageIndex, startPackageIndex } from '../../../tests/support/package-index.js';
import { ensureUv } from '../../../tests/support/uv.js';
import type { GivenConfig } from '../../core/src/config/schema.js';
import type { Pungi } from '../../core/src/pungi.js';
import { TestCluster, type TestWorker, type TrailLine } from './cluster.js';

export interface EnvironmentCluster {
  cluster: TestCluster;
  index: PackageIndex;
  /** A front end, which has neither Python nor a package index. */
  front(config?: GivenConfig): Promise<Pungi>;
}

/** A cluster for each test of the file. Its workers see no package index but the file's own. */
export function environmentCluster(): EnvironmentCluster {
  const world = {
    front: (config = {}) => world.cluster.front({ uv: '/nonexistent', python: '/nonexistent', ...config }),
  } as EnvironmentCluster;
  let uv: string;
  beforeAll(async () => {
    uv = await ensureUv();
    world.index = await startPackageIndex();
  });
  beforeEach(async () => {
    world.cluster = await TestCluster.start();
    world.cluster.env = { ...world.index.env, PUNGI_UV: uv };
  });
  afterEach(async () => {
    world.index.hang(false);
    await world.cluster.stop();
  });
  afterAll(() => world.index.stop());
  return world;
}

export const eventsOf = ({ trail }: TestWorker, event: string): TrailLine[] =>
  trail.filter((line) => line.event === event);

/** Runs in an environment with apple return its version. */
export const VERSION = 'import apple; apple.__version__';
