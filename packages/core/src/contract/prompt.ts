import { z } from 'zod';
import type { RunRequest } from './run.js';

/** A line at a prompt, up to the cursor. Without a session, or for "new", as a new session would see it. */
export type PromptRequest = Pick<RunRequest, 'session' | 'venvName' | 'packages' | 'profile'> & {
  code: string;
};

/** How a line may go on. */
export interface Completion {
  /** What may take the place of the last word, in order. Foreign code may have chosen them, but they are printable. */
  completions: string[];
  /** The characters of that word. */
  length: number;
}

/** Code at a prompt, by Python's own rules. */
export const PromptInput = z.object({
  isWhole: z.boolean().describe('whether it needs no more lines'),
  ends: z.array(z.number().int()).describe('the last lines of its statements; none if it does not compile'),
});
export type PromptInput = z.infer<typeof PromptInput>;
