import { z } from 'zod';
import { Outcome } from './outcome.js';

/** A run that goes on after the call that started it, as its owner sees it. */
export const BackgroundRun = z.object({
  run: z.string().describe('the handle'),
  state: z.enum(['waiting', 'running', 'ended']),
  acceptedAt: z.string().describe('ISO 8601'),
  endedAt: z.string().optional().describe('ISO 8601; once it has ended'),
  step: z.string().optional().describe('what it waits for, such as packages that are being installed'),
  lines: z.array(z.string()).optional().describe('the newest lines of its output, until it has ended'),
  lineCount: z.number().int().optional().describe('lines so far'),
  elsewhere: z.boolean().optional().describe('true: another server runs it; it can only be waited for'),
  outcome: Outcome.optional().describe('once it has ended'),
});
export type BackgroundRun = z.infer<typeof BackgroundRun>;

/** A background run in a list. */
export type BackgroundRunInfo = Pick<BackgroundRun, 'run' | 'state' | 'acceptedAt'>;
