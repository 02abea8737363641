// Summarizes samples for a table.

/** With fewer samples, p99 would be one of the slowest two. */
const ENOUGH_FOR_P99 = 100;

export function summarize(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const p99 = sorted.length >= ENOUGH_FOR_P99 ? quantile(sorted, 0.99) : undefined;
  return { count: sorted.length, median: quantile(sorted, 0.5), p99 };
}

export const median = (samples) => summarize(samples).median;

/** Interpolates between the two nearest samples, as most tools do. */
function quantile(sorted, fraction) {
  if (sorted.length === 0) return undefined;
  const place = (sorted.length - 1) * fraction;
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below);
}
