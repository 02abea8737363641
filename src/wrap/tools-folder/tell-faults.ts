import type { Logger } from '../../base/logger.js';
import type { ToolFault } from './wrapped-script.js';

/** Faults of a script that are told to the log; the rest is counted. */
const MOST_TOLD = 20;

/** Tells the log of a script's tools that are not offered, or not as they are written. */
export function tellFaults(logger: Logger, script: string, faults: readonly ToolFault[]): void {
  for (const { tool, problem, isLeftOut } of faults.slice(0, MOST_TOLD)) {
    const words = isLeftOut
      ? 'A wrapped tool is not offered'
      : 'A wrapped tool is not offered as it is written';
    logger.error(words, { script, tool, problem });
  }
  const more = faults.length - MOST_TOLD;
  if (more > 0)
    logger.error('More wrapped tools are not offered, or not as they are written', { script, more });
}
