// How long the bench measures. Batches are bounded by time, so that a run's length hardly depends on the machine.
const FULL = {
  rounds: 10,
  batchMs: 300,
  sustainedRounds: 3,
  sustainedMs: { 'print(1)': 1500, 'pandas sum': 2500 },
  spawns: 10,
  levelMs: 1000,
  cpuRuns: 3000,
};
const QUICK = {
  rounds: 4,
  batchMs: 200,
  sustainedRounds: 1,
  sustainedMs: { 'print(1)': 800, 'pandas sum': 1500 },
  spawns: 3,
  levelMs: 500,
  cpuRuns: 500,
};

export const settingsFor = (isQuick) => ({
  ...(isQuick ? QUICK : FULL),
  isQuick,
  /** Between two calls of an agent. */
  gapMs: 5,
  /** Between two contenders, so that one does not pay for the remaining work of another. */
  settleMs: 60,
  concurrency: 8,
});
