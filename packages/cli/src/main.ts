#!/usr/bin/env node
import module from 'node:module';
import { isNodeSupported, tooOld } from '@pungi/core/node-version';

// Runs before anything else is loaded: an older Node fails on the syntax of the imports.
if (isNodeSupported()) {
  // Newer Nodes keep compiled code between starts.
  (module as { enableCompileCache?: () => void }).enableCompileCache?.();
  const [command, ...args] = process.argv.slice(2);
  if (command === 'run') {
    const { startAhead } = await import('@pungi/core/head-start');
    startAhead(args, process.env);
  }
  const { runProgram } = await import('./command-line.js');
  // The library's processes and timers do not keep the process alive; this timer does until the command ends.
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
