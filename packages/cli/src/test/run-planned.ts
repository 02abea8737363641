import { Pungi } from '@pungi/core';
import { silentLogger } from '@pungi/core/base';
import type { SuiteReport, TestReport } from '@pungi/core/contract';
import { findInterpreter } from '@pungi/core/processes';
import {
  beginSection,
  type Ci,
  configForScripts,
  countPlanned,
  countResults,
  engineConfigOf,
  type LoadedSpecification,
  PythonValidators,
  runSuite,
  type SnapshotMode,
  type TerminalReporter,
} from '@pungi/harness';
import { configSources } from '../config-flags.js';
import type { RunFlags } from './flags.js';
import { faultLine, shownFile } from './load-specs.js';

/** A specification with its selected tests. */
export interface Chosen {
  loaded: LoadedSpecification;
  /** True if no test was left out. */
  isWhole: boolean;
}

interface Watching {
  signal: AbortSignal;
  /** Undefined if nobody watches the progress. */
  live: TerminalReporter | undefined;
  ci: Ci | null;
}

/** Runs specifications one after another, each against its own server. */
export async function runPlanned(
  chosen: readonly Chosen[],
  flags: RunFlags,
  { signal, live, ci }: Watching,
): Promise<TestReport> {
  const begun = new Date();
  const clock = performance.now();
  const engines = chosen.map(({ loaded }) => engineConfigOf(loaded.specification.script_config));
  const config = configForScripts(configSources(flags), engines);
  // Python is started only if a specification contains some.
  const pungi = chosen.some(({ loaded }) => hasPython(loaded))
    ? Pungi.start({ ...config, preinstalledPackages: [] }, silentLogger, 'command')
    : undefined;
  try {
    await pungi?.ready();
    live?.started({
      suites: chosen.map(({ loaded }) => ({ file: shownFile(loaded.file), tests: countPlanned(loaded) })),
    });
    const snapshots: SnapshotMode = flags.updateSnapshots ? 'update' : ci === null ? 'create' : 'check';
    const suites: SuiteReport[] = [];
    for (const { loaded, isWhole } of chosen) {
      const hasFailed = suites.some(({ results }) => results.some(({ status }) => status === 'failed'));
      if (signal.aborted || (flags.failFast && hasFailed)) break;
      const file = shownFile(loaded.file);
      const end = beginSection(live === undefined || chosen.length === 1 ? null : ci, file, (text) =>
        process.stdout.write(text),
      );
      const suite = await runSuite(loaded, {
        environment: process.env,
        validators:
          pungi === undefined
            ? undefined
            : new PythonValidators(engineConfigOf(loaded.specification.script_config), pungi),
        python: async () => (await findInterpreter(config.python)).path,
        events: live && {
          testStarted: (id) => live.testStarted(id),
          testEnded: (result, file) => live.testEnded(result, file && shownFile(file)),
        },
        signal,
        snapshots,
        isWhole,
        timeoutMs: flags.timeout,
        maxConcurrency: flags.parallel,
        failFast: flags.failFast,
      });
      end();
      const warnings = loaded.warnings.map((warning) => faultLine(warning));
      suites.push({ ...suite, file, ...(warnings.length === 0 ? {} : { warnings }) });
    }
    const counts = countResults(suites.flatMap(({ results }) => results));
    const durationMs = performance.now() - clock;
    return { version: 1, startedAt: begun.toISOString(), durationMs, counts, suites };
  } finally {
    live?.stop();
    await pungi?.close();
  }
}

const hasPython = ({ tests }: LoadedSpecification): boolean =>
  tests.some(({ scripts, test, skip }) => {
    const { expression = [] } = test.expected;
    return (
      skip === undefined && (scripts.some((script) => script.skip === undefined) || expression.length > 0)
    );
  });
