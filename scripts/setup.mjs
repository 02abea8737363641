// Prepares everything that `npm start` and `npm test` need in a clean clone: dependencies, then the build. Prints
// nothing if nothing is missing. Imports only built-in modules that any Node has, so that an old one prints a
// sentence, not a stack trace.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 3)) {
  console.error(`Pungi needs Node 20.3 or newer, got ${process.version}: install one from nodejs.org.`);
  process.exit(1);
}

const { installed, install } = await import('./dependencies.mjs');
const { built, build } = await import('./build.mjs');
const { withLock } = await import('./lock.mjs');

if (!installed() || !built()) {
  await withLock(() => {
    // The process that held the lock before may have done it all.
    if (!installed()) install();
    if (!built() && !build()) process.exitCode = 1;
  });
}
