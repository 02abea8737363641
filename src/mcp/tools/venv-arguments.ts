import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { describeNames } from './describe-environments.js';

/** The environment that a call is about. Which names are possible is for the environments to say, in a sentence. */
export const existingVenv = (config: Config, purpose: string) =>
  z
    .string()
    .optional()
    .describe(`The environment ${purpose}, by default "${config.defaultVenvName}": see list_venvs.`);

export const newVenv = () => z.string().describe(`Its name: ${describeNames()}`);

export const namedVenv = () => z.string().describe('The name of the environment, as list_venvs tells it.');

export const description = () => z.string().max(2000).describe('What the environment is for, in a sentence.');

export const packages = () => z.array(z.string()).min(1, 'name at least one package').max(200);

/** Brings files from the index, and may replace what is there. */
export const CHANGES_PACKAGES: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
};

export const ONLY_LOOKS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
