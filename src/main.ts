#!/usr/bin/env node
import { isNodeSupported, tooOld } from './base/node-version.js';

// Before anything else is loaded: an older Node fails on the syntax and the imports of what follows.
if (isNodeSupported()) {
  const { runProgram } = await import('./cli/program.js');
  await runProgram();
} else {
  process.stderr.write(`pungi: ${tooOld()}\n`);
  process.exitCode = 69;
}
