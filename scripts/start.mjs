// `npm start`: prepares what is missing, then serves.
await import('./setup.mjs');
if (process.exitCode === undefined) {
  // npm passes a signal on to its shell, which ends and leaves this process alone.
  const { ppid } = process;
  setInterval(() => process.ppid === ppid || process.kill(process.pid, 'SIGTERM'), 500).unref();
  process.argv.splice(2, 0, 'serve', '--http');
  await import('../dist/bundle/main.js');
}
