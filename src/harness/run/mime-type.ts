import type { TestSpecification } from '../../contract/spec.js';
import type { Failure } from '../../contract/test-report.js';
import { type Answer, isMap, itemsOf } from '../judge/answer.js';
import { failure } from '../judge/failure.js';
import type { PlannedTest } from '../spec/plan.js';

/** What a specification says of all that is read by a template. */
export function judgeMimeType(
  { resources }: TestSpecification,
  { kind, target }: PlannedTest,
  answer: Answer,
): Failure[] {
  const wanted = resources.find(({ uri_template: template }) => template === target)?.mime_type;
  if (kind !== 'resource' || wanted === undefined || answer.kind !== 'result' || !isMap(answer.result))
    return [];
  const others = itemsOf(answer.result['contents']).filter(({ mimeType }) => mimeType !== wanted);
  const [first] = others;
  if (first === undefined) return [];
  const is = first['mimeType'] === undefined ? 'is not told' : `is ${String(first['mimeType'])}`;
  return [
    failure(`The type of the content should be ${wanted}, and ${is}.`, {
      expected: wanted,
      actual: first['mimeType'] ?? null,
    }),
  ];
}
