const FORM = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;

/** Why this cannot be the name of a profile; undefined where it can. The names are those that environments may have. */
export function nameProblem(name: string): string | undefined {
  if (FORM.test(name)) return undefined;
  return 'the name of a profile is 1 to 64 letters (A-Z, a-z), digits, "_" and "-", and does not start with "-"';
}
