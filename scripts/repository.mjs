// Paths of the repository.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const at = (...parts) => join(root, ...parts);

/** A folder for locks and reports that git ignores. */
export function scratch(...parts) {
  mkdirSync(at('.pungi-setup'), { recursive: true });
  return at('.pungi-setup', ...parts);
}
