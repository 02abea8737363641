/** Timeouts of the proxy, in milliseconds. The total lifetime of a connection is limited by the run. */
export interface Timeouts {
  /** For the line that names the caller. */
  caller: number;
  headers: number;
  hello: number;
  lookup: number;
  connect: number;
  /** Without any traffic. */
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
