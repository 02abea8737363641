import type { Failure, Step } from '@pungi/core/contract';
import { capture, isErrorResult, type JsonMap, textOf } from '../judge/answer.js';
import { cut } from '../judge/shown.js';
import { finishStep } from '../spec/plan.js';
import type { Scope } from '../spec/substitute.js';
import { call, requestFor } from './call.js';
import type { Connection } from './connection.js';
import { ServerFault } from './server-fault.js';

interface StepsRun {
  captured: JsonMap;
  /** Failures of the first failed step; empty if all succeeded. */
  failures: Failure[];
}

interface StepSettings {
  /** A label for messages: "setup step 2". */
  what: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** The scope, with what earlier steps captured. */
  scope: (captured: JsonMap) => Scope;
  /** Continue after a failed step: cleanup steps are independent. */
  isPersistent?: boolean;
}

/** Runs steps one after another. */
export async function runSteps(
  connection: Connection,
  steps: readonly Step[],
  settings: StepSettings,
): Promise<StepsRun> {
  const captured: JsonMap = {};
  const failures: Failure[] = [];
  for (const [index, step] of steps.entries()) {
    const found = await runStep(connection, step, captured, settings);
    failures.push(
      ...found.map(
        (message): Failure => ({
          kind: 'setup',
          message: `${settings.what} step ${index + 1} (${targetOf(step).target}): ${message}`,
        }),
      ),
    );
    if (found.length > 0 && !settings.isPersistent) break;
  }
  return { captured, failures };
}

async function runStep(
  connection: Connection,
  written: Step,
  captured: JsonMap,
  { timeoutMs, signal, scope }: StepSettings,
): Promise<string[]> {
  const { value: step, missing } = finishStep(written, scope(captured));
  if (missing.length > 0)
    return [`there is no captured value for ${missing.map(({ text }) => text).join(', ')}`];
  const { kind, target } = targetOf(step);
  try {
    const { answer, failures } = await call(connection, requestFor(kind, target, step.input), {
      timeoutMs,
      signal,
    });
    if (answer.kind === 'cancelled') return ['the run was aborted'];
    const isError = answer.kind === 'error' || isErrorResult(answer);
    if (isError && !step.allow_error) return [`it failed: ${cut(textOf(answer), 500)}`];
    if (isError) return [];
    const { values, problems } = capture(step.capture, answer);
    Object.assign(captured, values);
    return [...failures.map(({ message }) => message), ...problems];
  } catch (error) {
    if (error instanceof ServerFault) return [error.message];
    throw error;
  }
}

function targetOf({ tool, resource, prompt }: Step): {
  kind: 'tool' | 'resource' | 'prompt';
  target: string;
} {
  if (tool !== undefined) return { kind: 'tool', target: tool };
  if (resource !== undefined) return { kind: 'resource', target: resource };
  return { kind: 'prompt', target: prompt! };
}
