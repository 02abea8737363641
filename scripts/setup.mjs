// Everything `npm start` and `npm test` need, from a clean clone: dependencies, then the build. Says nothing
// when nothing is missing. Imports only what any Node has, so that an old one gets a sentence, not a stack trace.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 3)) {
  console.error(
    `Pungi needs Node 20.3 or newer, and this is ${process.version}: install one from nodejs.org.`,
  );
  process.exit(1);
}

const { installed, install } = await import('./dependencies.mjs');
const { built, build } = await import('./build.mjs');
const { withLock } = await import('./lock.mjs');

if (!installed() || !built()) {
  await withLock(() => {
    // Whoever held the lock before may have done it all.
    if (!installed()) install();
    if (!built() && !build()) process.exitCode = 1;
  });
}
