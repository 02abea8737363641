import { createInterface } from 'node:readline/promises';

/** Whether there is a person to ask. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** Asks the person at the terminal for a line; an end of input is an empty one. Rejects when the signal comes. */
export async function ask(question: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  // Not as a terminal: the system's own line editing then stays on, and with it Ctrl-C as a signal.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  // Neither Ctrl-C nor the end of input leaves the line of the question; what follows has one of its own.
  const leaveLine = () => process.stderr.write('\n');
  try {
    const answer = await Promise.race([lines.question(question, { signal }), ended]);
    if (answer === undefined) leaveLine();
    return answer?.trim() ?? '';
  } catch (error) {
    leaveLine();
    throw signal.aborted ? signal.reason : error;
  } finally {
    lines.close();
  }
}
