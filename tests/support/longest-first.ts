import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each takes half a minute or more. Started last, everybody would wait for it; its size, by which Vitest sorts, does not tell. */
const LONGEST = [
  'tests/docs/commands',
  'packages/core/tests/security/attacks',
  'packages/core/tests/security/environment-attacks',
  'packages/core/tests/corpus/corpus',
  'packages/core/tests/environments/leases',
  'packages/core/tests/environments/installing',
  'packages/core/tests/environments/default',
  'packages/cli/tests/env',
  'packages/cli/tests/env-refusals',
  'packages/core/tests/environments/packaging/packagers',
  'packages/core/tests/environments/real-index',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
