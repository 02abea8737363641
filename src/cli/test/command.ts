import type { Command } from 'commander';
import { refuseMisspelt } from '../misspelt.js';
import { bench } from './bench.js';
import { fuzz } from './fuzz.js';
import { init } from './init.js';
import { lint } from './lint.js';
import { record } from './record.js';
import { runTests } from './run.js';
import type { End } from './subcommand.js';
import { validate } from './validate.js';

/** `pungi test …`: servers under test. What is none of its commands is a specification to run. */
export function testCommand(end: End): Command {
  const command = runTests('test', end).usage('[options] <spec... | command>').enablePositionalOptions();
  command.addCommand(runTests('run', end));
  for (const make of [validate, init, record, fuzz, lint, bench]) command.addCommand(make(end));
  return command.hook('preAction', (_, action) => {
    if (action === command) refuseMisspelt(command);
  });
}
