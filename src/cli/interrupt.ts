import { CANCELLED } from './exit-codes.js';

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
