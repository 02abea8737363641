import { pino } from 'pino';
import pretty from 'pino-pretty';

export type LogContext = Record<string, unknown>;

export interface Logger {
  debug(message: string, context?: LogContext): void;
  info(message: string, context?: LogContext): void;
  error(message: string, context?: LogContext): void;
}

export interface LogSettings {
  logLevel: 'debug' | 'info' | 'error';
  logFormat: 'json' | 'text';
  logFile?: string | undefined;
}

/** Entries of the shape {level, message, timestamp, context}, to stderr or a file: stdout belongs to the protocol. */
export function createLogger({ logLevel, logFormat, logFile }: LogSettings): Logger {
  const destination = { dest: logFile ?? 2, sync: true, mkdir: true };
  const stream =
    logFormat === 'text'
      ? pretty({
          destination: logFile ?? 2,
          sync: true,
          mkdir: true,
          colorize: false,
          messageKey: 'message',
          timestampKey: 'timestamp',
        })
      : pino.destination(destination);
  const entries = pino(
    {
      level: logLevel,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  const write = (level: 'debug' | 'info' | 'error') => (message: string, context?: LogContext) =>
    context === undefined ? entries[level](message) : entries[level]({ context }, message);
  return { debug: write('debug'), info: write('info'), error: write('error') };
}

export const silentLogger: Logger = { debug() {}, info() {}, error() {} };
