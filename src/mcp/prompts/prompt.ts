import type { z } from 'zod';

/** A prompt as data: what is advertised, and the words for what was filled in. */
export interface Prompt<Shape extends z.ZodRawShape = z.ZodRawShape> {
  name: string;
  title: string;
  description: string;
  argsSchema: z.ZodObject<Shape>;
  word: (args: z.infer<z.ZodObject<Shape>>) => string;
}

/** Keeps the types of the arguments together, and then lets prompts of all kinds lie in one list. */
export const prompt = <Shape extends z.ZodRawShape>(data: Prompt<Shape>): Prompt => data as unknown as Prompt;
