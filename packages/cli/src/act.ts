import { Pungi } from '@pungi/core';
import {
  createLogger,
  type Logger,
  type LogSettings,
  PungiError,
  type Style,
  silentLogger,
  styleFor,
} from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import { CLI, type StepOptions } from '@pungi/core/contract';
import { connectCluster } from './cluster-settings.js';
import { readConfig } from './config-flags.js';
import { exitCodeOfError } from './exit-codes.js';
import { printFailures, printJson } from './run-output.js';

import { onInterrupt, reportSteps } from './terminal.js';

/** The result of a command, as data and as text. */
export interface Answer {
  /** Undefined if the output is already printed. */
  json?: unknown;
  text: string;
  /** 0 if not given. */
  status?: number;
}

export interface CommandContext {
  /** Reports progress, and carries the signal that cancels. */
  steps: Required<StepOptions>;
  style: Style;
  /** The width of the terminal; undefined without one. */
  width: number | undefined;
}

export interface Acting extends CommandContext {
  pungi: Pungi;
}

export interface Parsed extends Record<string, unknown> {
  json?: boolean;
  quiet?: boolean;
}

/** Runs a command that needs a Pungi, and resolves to its exit status. */
export const act = (parsed: Parsed, work: (acting: Acting) => Promise<Answer>): Promise<number> =>
  answer(parsed, (context) => withPungi(readConfig(parsed), (pungi) => work({ pungi, ...context })));

/** Runs a command and prints its answer; Ctrl-C cancels it. */
export async function answer(
  parsed: Parsed,
  work: (context: CommandContext) => Promise<Answer>,
  cancelled = 'Cancelled: nothing has changed.',
): Promise<number> {
  const { json = false, quiet = json } = parsed;
  const cancel = new AbortController();
  const stopListening = onInterrupt(() => cancel.abort(new PungiError('CANCELLED', cancelled)));
  const progress = reportSteps({ quiet });
  try {
    const steps = { signal: cancel.signal, onStep: progress.onStep, caller: CLI };
    const { isTTY, columns } = process.stdout;
    const done = await work({ steps, style: styleFor(process.stdout), width: isTTY ? columns : undefined });
    progress.clear();
    if (!json) process.stdout.write(done.text);
    else if (done.json !== undefined) printJson(done.json);
    return done.status ?? 0;
  } catch (thrown) {
    progress.clear();
    const error = PungiError.from(thrown);
    if (!json) {
      printFailures(error);
      throw error;
    }
    printJson({ error });
    return exitCodeOfError(error);
  } finally {
    stopListening();
  }
}

/** No code of the user runs here: one worker is enough, and nothing is preinstalled. */
export async function withPungi<T>(settings: Config, work: (pungi: Pungi) => Promise<T>): Promise<T> {
  const config = { ...settings, poolSize: 1, preinstalledPackages: [] };
  const logger = config.logFile === undefined ? silentLogger : openLog(config);
  const pungi = Pungi.start(config, logger, 'command', await connectCluster(config, logger));
  try {
    return await work(pungi);
  } finally {
    await pungi.close();
  }
}

/** Opens the configured log, or throws why it cannot be written. */
export function openLog(settings: LogSettings): Logger {
  try {
    return createLogger(settings);
  } catch (error) {
    const message = `Could not write the log file ${settings.logFile}: ${(error as Error).message}`;
    throw new PungiError('CONFIGURATION_ERROR', message, { logFile: settings.logFile });
  }
}
