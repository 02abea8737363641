/** One row of the doctor's screen: what was checked, what was found, and what to do about a problem. */
export interface Finding {
  name: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  todo?: string;
}

export const ok = (name: string, found: string): Finding => ({ name, state: 'ok', found });
export const warn = (name: string, found: string, todo: string): Finding => ({
  name,
  state: 'warn',
  found,
  todo,
});
export const fail = (name: string, found: string, todo: string): Finding => ({
  name,
  state: 'fail',
  found,
  todo,
});
