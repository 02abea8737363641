import { expect } from 'vitest';
import { ensureUv } from '../../../../../tests/support/uv.js';
import type { PungiError } from '../../../src/base/errors.js';
import { UvPackager } from '../../../src/environments/packaging/uv-packager.js';
import { interpreter } from './venv.js';

/** A packager with the uv of the tests, whose version is not asked. */
export async function makePackager(base: string, env: NodeJS.ProcessEnv): Promise<UvPackager> {
  const uv = { version: '0', path: await ensureUv(), origin: 'PATH' } as const;
  return new UvPackager(uv, { base, python: await interpreter(), env });
}

export async function failureOf(work: Promise<unknown>): Promise<PungiError> {
  return work.then(
    () => expect.unreachable('it should have failed'),
    (error) => error,
  );
}
