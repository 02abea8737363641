import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { similarName } from '../base/similar-name.js';

/** Of a command that takes files as well as commands of its own: a word that is neither, but nearly a command, was meant as one. */
export function refuseMisspelt(command: Command): void {
  const [first = ''] = command.args;
  const commands = command.commands.map((one) => one.name());
  const meant = existsSync(first) ? undefined : similarName(first, commands);
  if (meant === undefined) return;
  const whole = `pungi ${command.name()} ${meant}`;
  command.error(`error: there is no file and no command "${first}" (did you mean "${whole}"?)`);
}
