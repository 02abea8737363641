import { type Answer, lookUp, viewsOf } from './answer.js';
import { MAX_DEPTH, measure } from './measure.js';
import { withinTime } from './within-time.js';

export interface Captured {
  values: Record<string, unknown>;
  /** One sentence for each variable that there is nothing for. */
  problems: string[];
}

const MAX_MS = 3000;

/** The variables that a step or a test takes out of an answer. A path that selects several values gives a list. */
export function capture(wanted: Readonly<Record<string, string>>, answer: Answer): Captured {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  if (answer.kind === 'result' && measure(answer.result).depth > MAX_DEPTH)
    return { values, problems: [`The answer is nested more than ${MAX_DEPTH} levels deep.`] };
  const views = viewsOf(answer);
  for (const [name, path] of Object.entries(wanted)) {
    const isInTime = withinTime(MAX_MS, () => {
      try {
        const { selected } = lookUp(views, path);
        if (selected.length === 0)
          problems.push(`Nothing was captured for "${name}": there is no ${path} in the answer.`);
        else values[name] = selected.length === 1 ? selected[0]!.value : selected.map(({ value }) => value);
      } catch (error) {
        problems.push(
          `Nothing was captured for "${name}": ${path} cannot be used: ${(error as Error).message}`,
        );
      }
    });
    if (!isInTime) problems.push(`Nothing was captured for "${name}": looking for ${path} took too long.`);
  }
  return { values, problems };
}
