import { PungiError } from '../base/errors.js';
import { silentLogger } from '../base/logger.js';
import type { StepOptions } from '../contract/environment.js';
import { Pungi } from '../pungi.js';
import { readConfig } from './config-flags.js';
import { exitCodeOfError } from './exit-codes.js';
import { onInterrupt } from './interrupt.js';
import { openLog } from './open-log.js';
import { printFailures } from './package-results.js';
import { printJson } from './run-output.js';
import { tellSteps } from './terminal/steps.js';
import { type Style, styleFor } from './terminal/style.js';

/** What a command has to say: the same as data and in words. */
export interface Answer {
  json: unknown;
  text: string;
  /** 0 if not given. */
  status?: number;
}

export interface Acting {
  pungi: Pungi;
  /** Where to tell what is done, and what ends it. */
  steps: Required<StepOptions>;
  style: Style;
  /** Of the terminal; undefined where there is none. */
  width: number | undefined;
}

export interface Parsed extends Record<string, unknown> {
  json?: boolean;
  quiet?: boolean;
}

/** Does one thing with a Pungi, and resolves to the status: Ctrl-C cancels it, and what it did is told. */
export async function act(parsed: Parsed, work: (acting: Acting) => Promise<Answer>): Promise<number> {
  const { json = false, quiet = json } = parsed;
  const cancel = new AbortController();
  const stopListening = onInterrupt(() => cancel.abort(new PungiError('CANCELLED', CANCELLED)));
  // A reader that goes away, such as `head`, is no reason to leave the work undone.
  process.stdout.on('error', () => {});
  const told = tellSteps({ quiet });
  try {
    const steps = { signal: cancel.signal, onStep: told.onStep };
    const { isTTY, columns } = process.stdout;
    const surroundings = { style: styleFor(process.stdout), width: isTTY ? columns : undefined };
    const answer = await withPungi(parsed, (pungi) => work({ pungi, steps, ...surroundings }));
    told.clear();
    if (json) printJson(answer.json);
    else process.stdout.write(answer.text);
    return answer.status ?? 0;
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

const CANCELLED = 'Cancelled: everything is as it was.';

/** Code of the person's own is not run here: one worker is enough, and nothing need be preinstalled. */
async function withPungi<T>(parsed: Parsed, work: (pungi: Pungi) => Promise<T>): Promise<T> {
  const config = { ...readConfig(parsed), poolSize: 1, preinstalledPackages: [] };
  const pungi = Pungi.start(config, config.logFile === undefined ? silentLogger : openLog(config));
  try {
    return await work(pungi);
  } finally {
    await pungi.close();
  }
}
