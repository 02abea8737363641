import { PungiError } from '../../base/errors.js';
import { similarName } from '../../base/similar-name.js';
import { nameOf } from '../../harness/init/offer.js';
import type { JsonMap } from '../../harness/judge/answer.js';

/** The tools that are named; where none is, those that may be called unasked. */
export function chooseTools(
  tools: readonly JsonMap[],
  names: readonly string[] | undefined,
  isHarmless: (tool: JsonMap) => boolean,
): { chosen: JsonMap[]; leftOut: string[] } {
  if (names === undefined) {
    const chosen = tools.filter(isHarmless);
    return { chosen, leftOut: tools.filter((tool) => !chosen.includes(tool)).map(nameOf) };
  }
  const known = tools.map(nameOf);
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined)
    return { chosen: tools.filter((tool) => names.includes(nameOf(tool))), leftOut: [] };
  const close = similarName(missing, known);
  const advice = close === undefined ? `it has ${known.join(', ') || 'none'}` : `did you mean ${close}?`;
  throw new PungiError('INVALID_INPUT', `The server has no tool ${missing}; ${advice}`);
}
