import { PungiError } from '../base/errors.js';
import { createLogger, type Logger, type LogSettings } from '../base/logger.js';

/** The log that the settings ask for, or the sentence that says why it cannot be written. */
export function openLog(settings: LogSettings): Logger {
  try {
    return createLogger(settings);
  } catch (error) {
    const message = `The log file ${settings.logFile} cannot be written: ${(error as Error).message}`;
    throw new PungiError('CONFIGURATION_ERROR', message, { logFile: settings.logFile });
  }
}
