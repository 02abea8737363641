import { runCommandLine } from './command-line.js';

/** The whole life of the process: one command, then its status. */
export async function runProgram(): Promise<never> {
  // A reader that goes away, such as `head`, is no reason to leave the work undone, nor for a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

  const status = await runCommandLine(process.argv.slice(2));

  // Whatever is still in the pipes is written before the process ends with its status.
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise((done) => stream.write('', () => done(undefined))),
    ),
  );
  process.exit(status);
}
