import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { compactArguments, compactResult, type Schema } from './compact-schema.js';

type Validate = StandardSchemaWithJSON['~standard']['validate'];

const TARGET = { target: 'draft-2020-12' } as const;

/** Converted once: it costs a millisecond, and the modern HTTP door builds a server for every request. */
const withFixedJson = (json: Schema, validate: Validate): StandardSchemaWithJSON => ({
  '~standard': {
    version: 1,
    vendor: 'pungi',
    validate,
    jsonSchema: { input: () => json, output: () => json },
  },
});

/** Advertises the arguments and lets everything through: the tool checks them, to answer INVALID_INPUT in our own words. */
export const advertiseArguments = (schema: z.ZodType) =>
  withFixedJson(compactArguments(schema['~standard'].jsonSchema.input(TARGET)), (value) => ({ value }));

/** `open`: paths whose inner shape the listing leaves out, because few look there. */
export const advertiseResult = (schema: z.ZodType, open: readonly string[] = []) =>
  withFixedJson(
    compactResult(schema['~standard'].jsonSchema.output(TARGET), open),
    schema['~standard'].validate,
  );
