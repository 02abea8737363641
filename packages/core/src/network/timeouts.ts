/** How long the proxy waits for what, in milliseconds. How long a connection lives in all is a matter of the run's own time. */
export interface Timeouts {
  /** For the line that names the caller. */
  caller: number;
  headers: number;
  hello: number;
  lookup: number;
  connect: number;
  /** Nothing moves. */
  idle: number;
}

export const TIMEOUTS: Timeouts = {
  caller: 5000,
  headers: 15_000,
  hello: 10_000,
  lookup: 10_000,
  connect: 15_000,
  idle: 300_000,
};
