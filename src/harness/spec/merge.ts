import type { TestSpecification } from '../../contract/spec.js';
import type { JsonMap } from '../judge/answer.js';

/**
 * One specification of several. The last is the specification itself, the others are what it includes: their tests,
 * scripts and steps are added, and where it says nothing about the server, they do.
 */
export function mergeSpecifications(
  all: readonly [TestSpecification, ...TestSpecification[]],
  variables: JsonMap,
): TestSpecification {
  const own = all.at(-1)!;
  const server = all.findLast((one) => one.server !== undefined)?.server;
  const scripts = all.findLast((one) => one.script_config !== undefined)?.script_config;
  const capabilities = all.flatMap((one) => one.capabilities ?? []);
  return {
    ...own,
    variables,
    setup: all.flatMap(({ setup }) => setup),
    // Taken down in the other order than it was set up.
    cleanup: all.toReversed().flatMap(({ cleanup }) => cleanup),
    tools: all.flatMap(({ tools }) => tools),
    resources: all.flatMap(({ resources }) => resources),
    prompts: all.flatMap(({ prompts }) => prompts),
    validation_scripts: all.flatMap(({ validation_scripts }) => validation_scripts),
    ...(server === undefined ? {} : { server }),
    ...(scripts === undefined ? {} : { script_config: scripts }),
    ...(capabilities.length === 0 ? {} : { capabilities: Object.assign({}, ...capabilities) }),
  };
}
