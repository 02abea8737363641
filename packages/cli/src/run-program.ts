import { adopt, type HeadStart } from '@pungi/core/head-start';
import { runProgram } from './command-line.js';
import { runCommand } from './run.js';

/** The program of `pungi run`, which is built into a file of its own. */
export async function runScript(started: HeadStart): Promise<never> {
  adopt(started);
  return runProgram({ run: async () => runCommand });
}
