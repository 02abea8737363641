import { verbatim } from '../init/spec-text.js';
import type { JsonMap } from '../judge/answer.js';
import { shown } from '../judge/shown.js';
import type { Find } from './fuzz.js';

/** What was found, as tests that fail until it is mended. */
export function findsSpec(
  finds: readonly Find[],
  { name, server, seed, timeoutMs }: { name: string; server: JsonMap; seed: number; timeoutMs: number },
): JsonMap {
  const tools = [...new Set(finds.map(({ tool }) => tool))];
  return {
    name: verbatim(`${name}: what fuzzing found`),
    description: `Seed ${seed}`,
    server,
    test_config: { timeout_seconds: timeoutMs / 1000, fresh_server: true },
    tools: tools.map((tool) => ({
      name: verbatim(tool),
      tests: finds
        .filter((find) => find.tool === tool)
        .map((find, index) => ({
          name: verbatim(`bears ${shown(find.input)}${index === 0 ? '' : ` (${index + 1})`}`),
          description: verbatim(`It did not: ${find.message}`),
          tags: ['fuzz'],
          input: verbatim(find.input),
          // As in fuzzing: a server may refuse it or not, as long as it answers.
          expected: { error: 'any' },
        })),
    })),
  };
}
