import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each takes a minute or more. Started last, it would be waited for by everybody else; size, Vitest's guess, does not tell. */
const LONGEST = [
  'docs/commands',
  'security/attacks',
  'security/environment-attacks',
  'cli/env',
  'cli/env-refusals',
  'environments/packaging/packagers',
  'environments/real-index',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.some((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
