import { z } from 'zod';

const positive = z.number().int().positive();

/** The limits of one run. The configuration sets the defaults and the ceilings that a request may use. */
export const Limits = z.strictObject({
  timeoutMs: positive.describe('wall time, in milliseconds'),
  cpuMs: positive.describe('CPU time of all processes of the run together, in milliseconds'),
  memoryMb: positive.describe(
    'resident memory of all processes of the run together, shared pages counted once',
  ),
  processes: positive.describe('processes and threads alive at once'),
  openFiles: positive.describe('open file descriptors of one process'),
  diskMb: positive.describe('the work folder, /tmp and /dev/shm together'),
  outputBytes: positive.describe('bytes of stdout, and of stderr, kept for the reply: the head and the tail'),
  outputHardBytes: positive.describe('bytes of stdout and stderr together after which the run is ended'),
});
export type Limits = z.infer<typeof Limits>;

export const RequestedLimits = Limits.partial();
export type RequestedLimits = z.infer<typeof RequestedLimits>;

export const DEFAULT_LIMITS: Limits = {
  timeoutMs: 30_000,
  cpuMs: 30_000,
  memoryMb: 512,
  processes: 64,
  openFiles: 256,
  diskMb: 64,
  outputBytes: 256 * 1024,
  outputHardBytes: 32 * 1024 * 1024,
};
