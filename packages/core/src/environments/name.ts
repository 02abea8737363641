import { badArgument } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';

/** The prefix of environments for the inline dependencies of scripts. */
const INLINE_PREFIX = 'inline-';

const FORM = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

const ALLOWED = '1 to 64 letters (A-Z, a-z), digits, "_" and "-"';

// Windows opens a device for these names whatever the folder. The base folder may lie on a shared disk or be copied to
// one, so they are refused everywhere. Names such as "base" or "system" mean nothing to Pungi and harm nobody.
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/** Checks that a name is safe as a folder name on every system. */
export function checkName(name: unknown, { allowInline = false }: { allowInline?: boolean } = {}): string {
  if (typeof name !== 'string') throw badArgument('venvName', `a name of ${ALLOWED}`, name);
  if (!FORM.test(name)) {
    throw refused(name, `the name of an environment is ${ALLOWED}, and does not start with "-"`);
  }
  const folded = foldName(name);
  if (DEVICE.test(folded)) {
    throw refused(name, 'Windows keeps this name for a device; choose another name');
  }
  if (folded.startsWith(INLINE_PREFIX) && !allowInline) {
    throw refused(
      name,
      `names that start with "${INLINE_PREFIX}" are kept for environments of inline dependencies; choose another name`,
    );
  }
  return name;
}

/** Two names with the same result are one folder on file systems that ignore case. */
export function foldName(name: string): string {
  return name.toLowerCase();
}

function refused(name: string, why: string): PungiError {
  const shown = JSON.stringify(shorten(name));
  return new PungiError('INVALID_INPUT', `${shown} cannot be the name of an environment: ${why}.`, {
    issues: [why],
  });
}

const shorten = (name: string) => (name.length > 80 ? `${name.slice(0, 80)}…` : name);
