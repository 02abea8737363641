import { machineMemoryMb } from '../base/machine-memory.js';
import { type Config, OPTIONS, type OptionName } from '../config/schema.js';
import type { Limits, RequestedLimits } from '../contract/limits.js';
import type { Profile } from '../contract/profile.js';

/** The settings of a limit: its default and its ceiling. */
const SETTINGS: Record<keyof Limits, { byDefault: OptionName; ceiling: OptionName }> = {
  timeoutMs: { byDefault: 'executionTimeoutMs', ceiling: 'maxRequestTimeoutMs' },
  // CPU time scales with the wall time.
  cpuMs: { byDefault: 'maxCpuMs', ceiling: 'maxRequestTimeoutMs' },
  memoryMb: { byDefault: 'maxMemoryMb', ceiling: 'maxRequestMemoryMb' },
  processes: { byDefault: 'maxProcesses', ceiling: 'maxRequestProcesses' },
  openFiles: { byDefault: 'maxOpenFiles', ceiling: 'maxOpenFiles' },
  diskMb: { byDefault: 'maxDiskMb', ceiling: 'maxRequestDiskMb' },
  outputBytes: { byDefault: 'maxOutputBytes', ceiling: 'maxOutputBytes' },
  outputHardBytes: { byDefault: 'maxOutputHardBytes', ceiling: 'maxOutputHardBytes' },
};
const NAMES = Object.keys(SETTINGS) as (keyof Limits)[];

/** Returns the limits of a run that requests none. */
export const limitsOf = (config: Config): Limits =>
  Object.fromEntries(NAMES.map((name) => [name, config[SETTINGS[name].byDefault]])) as Limits;

/** Returns the highest limits that a run may request, never less than the defaults. */
export function ceilingsOf(config: Config): Limits {
  const byDefault = limitsOf(config);
  const timeoutMs = Math.max(byDefault.timeoutMs, config.maxRequestTimeoutMs);
  const memoryMb = config.maxRequestMemoryMb ?? Math.floor(machineMemoryMb() / 4);
  const { maxTotalMemoryMb = memoryMb } = config;
  return {
    ...byDefault,
    timeoutMs,
    cpuMs: cpuFor(timeoutMs, byDefault),
    memoryMb: Math.max(byDefault.memoryMb, Math.min(memoryMb, maxTotalMemoryMb)),
    processes: Math.max(byDefault.processes, config.maxRequestProcesses),
    diskMb: Math.max(byDefault.diskMb, config.maxRequestDiskMb),
  };
}

/** Returns the most wall time of a background run, never less than that of others. */
export const backgroundTimeoutMs = ({ maxRequestTimeoutMs, maxBackgroundTimeoutMs }: Config): number =>
  Math.max(maxRequestTimeoutMs, maxBackgroundTimeoutMs);

const cpuFor = (timeoutMs: number, { timeoutMs: usual, cpuMs }: Limits) =>
  Math.max(cpuMs, Math.ceil((cpuMs * timeoutMs) / usual));

/** Lowers limits to the requested values; never raises one. */
export function tighten(limits: Limits, wanted: RequestedLimits = {}): Limits {
  const tightened = { ...limits };
  for (const name of Object.keys(wanted) as (keyof Limits)[]) {
    const value = wanted[name];
    if (value !== undefined) tightened[name] = Math.min(limits[name], value);
  }
  return tightened;
}

function settingOf(name: keyof Limits, isBackground: boolean): string {
  const { ceiling } = SETTINGS[name];
  const isTime = ceiling === 'maxRequestTimeoutMs';
  return OPTIONS[isBackground && isTime ? 'maxBackgroundTimeoutMs' : ceiling].env;
}

const isEmpty = (object: object): boolean => {
  for (const _ in object) return false;
  return true;
};

interface Granted {
  limits: Readonly<Limits>;
  /** One sentence per value that was too high. */
  lowered: string[];
}

/** Decides the limits of runs from defaults, profiles and requests. */
export class LimitRules {
  readonly byDefault: Limits;
  readonly ceilings: Limits;
  readonly #background: Limits;

  constructor(config: Config) {
    this.byDefault = limitsOf(config);
    this.ceilings = ceilingsOf(config);
    this.#background = ceilingsOf({ ...config, maxRequestTimeoutMs: backgroundTimeoutMs(config) });
  }

  /** The limits of a profile are also the ceiling for its runs. */
  grant(
    profile: Pick<Profile, 'name' | 'limits'> | null,
    wanted: RequestedLimits = {},
    isBackground = false,
  ): Granted {
    const own = profile?.limits ?? {};
    // Most runs ask for nothing, and most profiles say nothing.
    if (isEmpty(own) && isEmpty(wanted)) return { limits: this.byDefault, lowered: [] };
    const byDefault = tighten(this.byDefault, own);
    const ceilings = { ...(isBackground ? this.#background : this.ceilings) };
    for (const name of Object.keys(own) as (keyof Limits)[]) ceilings[name] = byDefault[name];
    const limits = { ...byDefault };
    const lowered: string[] = [];
    for (const name of Object.keys(wanted) as (keyof Limits)[]) {
      const value = wanted[name];
      if (value === undefined) continue;
      limits[name] = Math.min(ceilings[name], value);
      if (value > ceilings[name]) {
        const whose =
          own[name] === undefined
            ? `the server's ${settingOf(name, isBackground)}`
            : `the limit of the profile "${profile!.name}"`;
        lowered.push(`${name} was lowered from ${value} to ${ceilings[name]}, ${whose}.`);
      }
    }
    if (wanted.cpuMs === undefined && limits.timeoutMs > byDefault.timeoutMs)
      limits.cpuMs = Math.min(ceilings.cpuMs, cpuFor(limits.timeoutMs, byDefault));
    return { limits, lowered };
  }

  /** Whether the run needs workers with more memory or disk than the default. */
  isRaised = ({ memoryMb, diskMb }: Limits): boolean =>
    memoryMb > this.byDefault.memoryMb || diskMb > this.byDefault.diskMb;
}
