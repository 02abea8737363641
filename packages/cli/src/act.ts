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
import { readConfig } from './config-flags.js';
import { CANCELLED, exitCodeOfError } from './exit-codes.js';
import { printFailures } from './package-results.js';
import { printJson } from './run-output.js';
import { tellSteps } from './terminal.js';

/** What a command has to say: the same as data and in words. */
export interface Answer {
  /** Not given: it is out already. */
  json?: unknown;
  text: string;
  /** 0 if not given. */
  status?: number;
}

export interface Surroundings {
  /** Where to tell what is done, and what ends it. */
  steps: Required<StepOptions>;
  style: Style;
  /** Of the terminal; undefined where there is none. */
  width: number | undefined;
}

export interface Acting extends Surroundings {
  pungi: Pungi;
}

export interface Parsed extends Record<string, unknown> {
  json?: boolean;
  quiet?: boolean;
}

/** Does one thing with a Pungi, and resolves to the status. */
export const act = (parsed: Parsed, work: (acting: Acting) => Promise<Answer>): Promise<number> =>
  answer(parsed, (surroundings) =>
    withPungi(readConfig(parsed), (pungi) => work({ pungi, ...surroundings })),
  );

/** Does one thing: Ctrl-C cancels it, and what it did is told. */
export async function answer(
  parsed: Parsed,
  work: (surroundings: Surroundings) => Promise<Answer>,
  cancelled = 'Cancelled: everything is as it was.',
): Promise<number> {
  const { json = false, quiet = json } = parsed;
  const cancel = new AbortController();
  const stopListening = onInterrupt(() => cancel.abort(new PungiError('CANCELLED', cancelled)));
  const told = tellSteps({ quiet });
  try {
    const steps = { signal: cancel.signal, onStep: told.onStep, caller: CLI };
    const { isTTY, columns } = process.stdout;
    const done = await work({ steps, style: styleFor(process.stdout), width: isTTY ? columns : undefined });
    told.clear();
    if (!json) process.stdout.write(done.text);
    else if (done.json !== undefined) printJson(done.json);
    return done.status ?? 0;
  } catch (thrown) {
    told.clear();
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

/** Code of the person's own is not run here: one worker is enough, and nothing need be preinstalled. */
export async function withPungi<T>(settings: Config, work: (pungi: Pungi) => Promise<T>): Promise<T> {
  const config = { ...settings, poolSize: 1, preinstalledPackages: [] };
  const pungi = Pungi.start(config, config.logFile === undefined ? silentLogger : openLog(config), 'command');
  try {
    return await work(pungi);
  } finally {
    await pungi.close();
  }
}

/**
 * Calls back at the first Ctrl-C, SIGTERM or SIGHUP, and lets a second one end the process at once: by then the
 * person has asked twice, and the processes of a run do not outlive this one. Returns what stops listening.
 */
export function onInterrupt(callback: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  let asked = false;
  const listener = (signal: NodeJS.Signals) => {
    if (asked) process.exit(CANCELLED);
    asked = true;
    callback(signal);
  };
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/** The log that the settings ask for, or the sentence that says why it cannot be written. */
export function openLog(settings: LogSettings): Logger {
  try {
    return createLogger(settings);
  } catch (error) {
    const message = `The log file ${settings.logFile} cannot be written: ${(error as Error).message}`;
    throw new PungiError('CONFIGURATION_ERROR', message, { logFile: settings.logFile });
  }
}
