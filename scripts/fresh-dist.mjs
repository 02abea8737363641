// Vitest's global set-up: tests that spawn the command line must use the current build. Type errors are printed and
// do not stop the tests; `npm run check` refuses them.
import { build, built } from './build.mjs';
import { withLock } from './lock.mjs';

export async function setup() {
  if (!built()) await withLock(() => built() || build());
}
