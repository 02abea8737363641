import { z } from 'zod';

/** A summary of what code does, from its syntax tree, before it runs. */
export const CodeSummary = z.object({
  imports: z.array(z.string()),
  reads: z.array(z.string()).describe('files that it reads, if it names them'),
  writes: z.array(z.string()),
  plots: z.boolean(),
  dataFrames: z.boolean(),
  functions: z.array(z.string()),
  lines: z.number().int(),
  text: z.string().describe('the same in a sentence'),
});
export type CodeSummary = z.infer<typeof CodeSummary>;

/** What a person should know about a run: the request, the server, the purpose and the protection. */
export const Disclosure = z.object({
  server: z.string(),
  capability: z.string().nullable(),
  profile: z.string(),
  persona: z.string().nullable(),
  codeSummary: CodeSummary.nullable().describe('null if the code was not analysed'),
  securityLevel: z.string().describe('the isolation in force, in words'),
  text: z.string().describe('all of it as a text to show'),
});
export type Disclosure = z.infer<typeof Disclosure>;
