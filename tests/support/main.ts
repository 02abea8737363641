import { resolve } from 'node:path';

/** What people start. Where coverage is wanted, the same from the modules one by one, whose lines can be told apart. */
export const MAIN = resolve(
  import.meta.dirname,
  process.env['CHILD_COVERAGE'] === undefined ? '../../dist/bundle/main.js' : '../../dist/main.js',
);
