import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestPackage } from '../../../../tests/support/package-index.js';

const program = readFileSync(join(import.meta.dirname, 'fixtures/stand_in_ruff.py'), 'utf8');

/** A package for the tests' own index that is installed and started as ruff is. The code tells it what to answer. */
export const STAND_IN_RUFF: TestPackage = {
  name: 'ruff',
  version: '0.99.1',
  files: { 'ruff-0.99.1.data/scripts/ruff': program },
};
