import { resolve } from 'node:path';

/** What people start. */
export const MAIN = resolve(import.meta.dirname, '../../dist/bundle/main.js');
