import { z } from 'zod';
import { Health } from '../../contract/health.js';
import { invalidArguments } from '../reply.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import type { Tool } from './tool.js';

const Arguments = z.strictObject({});

export const healthCheck = (): Tool => ({
  name: 'health_check',
  title: 'Server health',
  description:
    'Tell whether the server can run Python now, with which interpreter, isolation tier and limits, and what it has run so far. ' +
    'If it is not healthy, `problem` says why and what to do.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: advertiseArguments(Arguments),
  outputSchema: advertiseResult(Health),
  answer: async (args, { pungi }) => {
    const parsed = Arguments.safeParse(args ?? {});
    if (!parsed.success) return invalidArguments(parsed.error);
    const health = await pungi.health();
    return { content: [{ type: 'text', text: JSON.stringify(health, null, 2) }], structuredContent: health };
  },
});
