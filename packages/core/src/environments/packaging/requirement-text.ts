import { PungiError } from '../../base/errors.js';

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/**
 * Requirements are parsed and rendered before this. It is the last check before a tool reads them: none may be
 * mistaken for an option, a comment, a second line, or a variable.
 */
export function checkRequirements(requirements: readonly string[]): void {
  for (const text of requirements) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    const isPlain = /^[A-Za-z0-9]/.test(text) && !/[\u0000-\u001f\u007f]|\$\{|\s#|\\$/.test(text);
    if (!isPlain) throw refused(text);
  }
}

export function checkName(name: string): void {
  if (!NAME.test(name)) throw refused(name);
}

const refused = (text: string) =>
  new PungiError('INVALID_INPUT', `${JSON.stringify(text)} cannot be given to a package tool.`, {
    issues: [text],
  });
