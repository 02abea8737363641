import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ensureUv } from '../support/uv.js';

const run = promisify(execFile);
const folder = resolve(import.meta.dirname, '../../deploy/kubernetes');
/** Not kinds of Kubernetes itself, so that it has no schemas of them. */
const FOREIGN = ['kustomization.yaml', 'autoscaling.yaml'];
const CHECKER = ['tool', 'run', '--from', 'kubernetes-validate==1.37.0', 'kubernetes-validate'];

const manifests = readdirSync(folder).filter((name) => !FOREIGN.includes(name));

test.each(manifests)(
  'the schemas of Kubernetes accept %s',
  async (name) => {
    const uv = await ensureUv();
    // The oldest version with names of pods that start at 1, and the newest.
    for (const version of ['1.31', '1.37']) {
      const { stdout } = await run(uv, [...CHECKER, '--strict', '-k', version, join(folder, name)]);
      expect(stdout).toContain('passed for resource');
    }
  },
  300_000,
);
