import { z } from 'zod';
import { ToolsFile } from '../../contract/wrap.js';

/** What is published as docs/tools.schema.json, and put beside a tools.json so that editors know it. */
export const toolsSchema = (): Record<string, unknown> => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'tools.json',
  description:
    'The tools of a Python script, as "pungi wrap" found them. Where a description says "may be changed" or "may be set", a change is kept when the script is looked at again.',
  ...z.toJSONSchema(ToolsFile, { io: 'input' }),
});
