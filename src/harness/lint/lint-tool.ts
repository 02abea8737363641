import { nameOf } from '../init/offer.js';
import { isMap, type JsonMap } from '../judge/answer.js';
import { lintInputSchema, lintOutputSchema } from './lint-schema.js';
import { lintDescription, lintHidden } from './lint-texts.js';
import type { Tell } from './remark.js';

const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
/** What several clients take, which is less than the protocol allows. */
const COMMON_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CHANGES =
  /(^|[_.-])(delete|remove|drop|destroy|erase|purge|write|update|create|insert|send|set|move)([_.-]|$)/i;
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

export function lintTool(tool: JsonMap, tell: Tell): void {
  const name = nameOf(tool);
  if (!NAME.test(name))
    tell('error', 'name', 'Its name must be 1 to 128 letters, digits, "_", "-", "." or "/".');
  else if (!COMMON_NAME.test(name))
    tell(
      'warning',
      'name',
      'Its name is one that several clients refuse: they take 64 letters, digits, "_" and "-".',
    );
  lintDescription(tool['description'], 'The tool', (severity, rule, message) =>
    tell(severity, rule, message.replace('of The tool', 'of the tool')),
  );
  if (typeof tool['title'] === 'string') lintHidden(tool['title'], 'Its title', tell);
  lintInputSchema(tool['inputSchema'], tell);
  lintOutputSchema(tool['outputSchema'], tell);
  lintAnnotations(name, tool['annotations'], tell);
}

function lintAnnotations(name: string, annotations: unknown, tell: Tell): void {
  if (!isMap(annotations)) {
    tell(
      'advice',
      'annotations',
      'It has no annotations: clients must take it for one that may destroy things.',
    );
    return;
  }
  for (const hint of HINTS)
    if (annotations[hint] !== undefined && typeof annotations[hint] !== 'boolean')
      tell('error', 'annotations', `Its annotation ${hint} must be true or false.`);
  if (annotations['readOnlyHint'] === true && annotations['destructiveHint'] === true)
    tell(
      'error',
      'annotations',
      'It says that it only reads, and that it destroys: one of the hints is wrong.',
    );
  if (annotations['readOnlyHint'] === true && CHANGES.test(words(name)))
    tell(
      'warning',
      'annotations',
      'It says that it only reads, and its name says that it changes something.',
    );
}

/** deleteFile is delete_file. */
const words = (name: string) => name.replace(/([a-z\d])([A-Z])/g, '$1_$2');
