import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { compactArguments, compactResult, type Schema } from './compact-schema.js';

const TARGET = { target: 'draft-2020-12' } as const;

/** Converted once: it costs a millisecond, and the modern HTTP door builds a server for every request. Lets everything through. */
const withFixedJson = (json: Schema): StandardSchemaWithJSON => ({
  '~standard': {
    version: 1,
    vendor: 'pungi',
    validate: (value) => ({ value }),
    jsonSchema: { input: () => json, output: () => json },
  },
});

/** The tool checks its arguments itself, to answer INVALID_INPUT in our own words. */
export const advertiseArguments = (schema: z.ZodType) =>
  withFixedJson(compactArguments(schema['~standard'].jsonSchema.input(TARGET)));

/**
 * What a tool answers is our own and typed: holding megabytes of a run's value against its schema would keep others waiting.
 * `open`: paths whose inner shape the listing leaves out, because few look there.
 */
export const advertiseResult = (schema: z.ZodType, open: readonly string[] = []) =>
  withFixedJson(compactResult(schema['~standard'].jsonSchema.output(TARGET), open));
