import { runProgram } from './command-line.js';
import { COMMANDS } from './commands.js';

await runProgram(COMMANDS);
