import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { Health } from '../../contract/health.js';
import { replyData } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answer } from './answer.js';
import type { Tool } from './tool.js';
import { existingVenv, ONLY_LOOKS } from './venv-arguments.js';

/** For the eyes of a person who looks for a fault. */
const DETAILS = ['metrics', 'isolation', 'interpreter', 'environment', 'pool', 'queue', 'alerts', 'audit'];

export function healthCheck(config: Config): Tool {
  const Arguments = z.strictObject({ venvName: existingVenv(config, 'to look at') });
  return {
    name: 'health_check',
    title: 'Server health',
    description:
      'Tell whether the server can run Python now, with which interpreter, isolation and limits, the state of an environment, ' +
      'and what was run so far. Use it when calls fail for no visible reason: `problem` says why and what to do.',
    annotations: ONLY_LOOKS,
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(Health, DETAILS),
    answer: (args, call) =>
      answer(Arguments, args, call, async ({ venvName }) =>
        replyData(await call.pungi.health(venvName), (health) => JSON.stringify(health, null, 2)),
      ),
  };
}
