import { z } from 'zod';

/** The session of a run, as its outcome shows it. */
export const SessionState = z.object({
  id: z.string().describe('the handle: pass it as `session` to go on'),
  alive: z.boolean().describe('whether variables and files are still there'),
  calls: z.number().int().describe('runs so far'),
  ended: z.string().optional().describe('why it ended'),
  checkpoints: z.array(z.string()).optional().describe('that it can be restored to'),
});
export type SessionState = z.infer<typeof SessionState>;

/** A session as its owner sees it in a list. */
export const SessionInfo = z.object({
  id: z.string(),
  environment: z.string().nullable(),
  profile: z.string().nullable(),
  calls: z.number().int(),
  busy: z.boolean().describe('whether a run is under way'),
  alive: z.boolean().describe('false if its process has ended, and only a checkpoint can be restored'),
  checkpoints: z.array(z.string()).describe('that it can be restored to'),
  startedAt: z.string().describe('ISO 8601'),
  lastUsedAt: z.string().describe('ISO 8601'),
  endsAt: z.string().describe('ISO 8601; later if it is used before'),
});
export type SessionInfo = z.infer<typeof SessionInfo>;
