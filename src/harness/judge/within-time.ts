import { createContext, Script } from 'node:vm';

/**
 * Patterns come from the specification, texts from the server under test: together they can take hours. V8 ends
 * even a regular expression where a script has a time limit, so everything that judges runs as a part of one.
 */
const CONTEXT = createContext({ work: undefined }) as { work: (() => void) | undefined };
const CALL = new Script('work()');

/** False where the time was up; what the work has done until then stays done. */
export function withinTime(milliseconds: number, work: () => void): boolean {
  const before = CONTEXT.work;
  CONTEXT.work = work;
  try {
    CALL.runInContext(CONTEXT, { timeout: milliseconds });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  } finally {
    CONTEXT.work = before;
  }
}
