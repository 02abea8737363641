import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { makeFolders } from './files.js';

const load = createRequire(import.meta.url);

type LogContext = Record<string, unknown>;

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

const LEVELS = { debug: 20, info: 30, error: 50 };
type Level = keyof typeof LEVELS;

/** Writes entries {level, message, timestamp, context} to stderr or a file: stdout belongs to the protocol. */
export function createLogger(settings: LogSettings): Logger {
  // A file that cannot be written is reported at once; else the library is loaded with the first entry.
  let entries = settings.logFile === undefined ? undefined : openEntries(settings);
  const write = (level: Level) => (message: string, context?: LogContext) => {
    if (LEVELS[level] < LEVELS[settings.logLevel]) return;
    entries ??= openEntries(settings);
    const line = plainText(message);
    if (context === undefined) entries[level](line);
    else entries[level]({ context: plainValue(context, MAX_DEPTH) }, line);
  };
  return { debug: write('debug'), info: write('info'), error: write('error') };
}

function openEntries({ logLevel, logFormat, logFile }: LogSettings) {
  if (logFile !== undefined) makeFolders(dirname(logFile));
  const { pino } = load('pino') as typeof import('pino');
  const destination = { dest: logFile ?? 2, sync: true };
  const stream =
    logFormat === 'text'
      ? (load('pino-pretty') as typeof import('pino-pretty'))({
          destination: logFile ?? 2,
          sync: true,
          colorize: false,
          singleLine: true,
          messageKey: 'message',
          timestampKey: 'timestamp',
          translateTime: 'UTC:yyyy-mm-dd HH:MM:ss.l',
        })
      : pino.destination(destination);
  return pino(
    {
      level: logLevel,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}

export const silentLogger: Logger = { debug() {}, info() {}, error() {} };

const MAX_TEXT = 1000;
const MAX_ITEMS = 50;
const MAX_DEPTH = 5;

/** Keeps an entry on one line and free of terminal control sequences. */
const plainText = (text: string) =>
  (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`).replace(UNPRINTABLE, ' ');

/**
 * Control characters, bidirectional marks and line separators, with which untrusted code could forge lines or hide
 * text.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** Bounds logged values in depth and size, because they come from requests and untrusted code. */
function plainValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return plainText(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth === 0) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => plainValue(item, depth - 1));
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(entries.map(([key, item]) => [plainText(key), plainValue(item, depth - 1)]));
}
