import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';

type Validate = StandardSchemaWithJSON['~standard']['validate'];

function withFixedJson(schema: z.ZodType, validate: Validate): StandardSchemaWithJSON {
  // Converting costs a millisecond, and the modern HTTP door builds a server for every request.
  const input = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
  const output = schema['~standard'].jsonSchema.output({ target: 'draft-2020-12' });
  return {
    '~standard': {
      version: 1,
      vendor: 'pungi',
      validate,
      jsonSchema: { input: () => input, output: () => output },
    },
  };
}

/** Advertises the arguments and lets everything through: the tool checks them, to answer INVALID_INPUT in our own words. */
export const advertiseArguments = (schema: z.ZodType) => withFixedJson(schema, (value) => ({ value }));

export const advertiseResult = (schema: z.ZodType) => withFixedJson(schema, schema['~standard'].validate);
