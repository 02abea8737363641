#!/usr/bin/env node
import { isNodeSupported, tooOld } from '@pungi/core/node-version';

// Before anything else is loaded: an older Node fails on the syntax and the imports of what follows.
if (isNodeSupported()) {
  const { runProgram } = await import('./command-line.js');
  // What a library's processes and timers leave to its program: whether it goes on. This one does until its command ends.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await runProgram();
  } finally {
    clearInterval(alive);
  }
} else {
  process.stderr.write(`pungi: ${tooOld()}\n`);
  process.exitCode = 69;
}
