#!/usr/bin/env node
// The first part of every command: it is small, and loads what the command needs.
import { join } from 'node:path';
import { isNodeSupported, tooOld } from '@pungi/core/node-version';
import { runByServer } from './shared-server/client.js';

type RunProgram = typeof import('./run-program.js');

const FOLDER = import.meta.dirname;
const [command, ...args] = process.argv.slice(2);
if (!isNodeSupported()) {
  process.stderr.write(`pungi: ${tooOld()}\n`);
  process.exitCode = 69;
} else if (command === 'run') {
  void run();
} else {
  void import('./program.mjs' as string);
}

async function run(): Promise<void> {
  const status = await runByServer(args, FOLDER);
  if (status !== undefined) process.exit(status);
  const { startAhead } = await import('@pungi/core/head-start');
  const started = startAhead(args, process.env);
  const { loadCompiled } = await import('./compiled-code.js');
  // A process that has only shown its help has compiled little of the program.
  const isWhole = (status: number) => status === 0 && !args.some((arg) => /^(-h|--help)$/.test(arg));
  await loadCompiled<RunProgram>(join(FOLDER, 'run.cjs'), isWhole).runScript(started);
}
