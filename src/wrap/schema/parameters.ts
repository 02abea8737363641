import type { ObjectSchema } from '../../contract/wrap.js';

export type JsonSchema = Record<string, unknown>;

export interface Parameter {
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
  description: string;
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The properties of a schema. A person may have edited it, so nothing of its inside is taken for granted. */
export function propertiesOf(schema: ObjectSchema): [name: string, schema: JsonSchema][] {
  const { properties } = schema;
  if (!isSchema(properties)) return [];
  return Object.entries(properties).map(([name, one]) => [name, isSchema(one) ? one : {}]);
}

export function parametersOf(schema: ObjectSchema): Parameter[] {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return propertiesOf(schema).map(([name, one]) => ({
    name,
    schema: one,
    isRequired: required.includes(name),
    description: descriptionOf(one) ?? '',
  }));
}

export const descriptionOf = ({ description }: JsonSchema): string | undefined =>
  typeof description === 'string' ? description : undefined;

/** The descriptions that parameters have. */
export const describedParameters = (schema: ObjectSchema): Record<string, string> =>
  Object.fromEntries(
    propertiesOf(schema).flatMap(([name, one]) => {
      const description = descriptionOf(one);
      return description === undefined ? [] : [[name, description]];
    }),
  );
