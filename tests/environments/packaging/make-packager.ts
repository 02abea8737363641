import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { PungiError } from '../../../src/base/errors.js';
import type { Packager } from '../../../src/environments/packaging/packager.js';
import { PipPackager } from '../../../src/environments/packaging/pip-packager.js';
import { UvPackager } from '../../../src/environments/packaging/uv-packager.js';
import { ensureUv } from '../../support/uv.js';
import { interpreter } from './venv.js';

const run = promisify(execFile);

/** The packager of a tool, without asking the tool whether it is there. */
export async function makePackager(tool: string, base: string, env: NodeJS.ProcessEnv): Promise<Packager> {
  const python = await interpreter();
  const settings = { base, python, env };
  return tool === 'uv'
    ? new UvPackager({ name: 'uv', version: '0', path: await ensureUv(), origin: 'PATH' }, settings)
    : new PipPackager({ name: 'pip', version: '0', path: python, origin: 'interpreter' }, settings);
}

export async function versionOfPip(): Promise<string> {
  const { stdout } = await run(await interpreter(), ['-I', '-m', 'pip', '--version']);
  return stdout.split(' ')[1]!;
}

export async function failureOf(work: Promise<unknown>): Promise<PungiError> {
  return work.then(
    () => expect.unreachable('it should have failed'),
    (error) => error,
  );
}
