import type { EnvironmentInfo } from '@pungi/core/contract';
import {
  alreadyThere,
  bareDefault,
  checkName,
  describeBare,
  describeWhole,
  differsInCase,
  type EnvironmentsOptions,
  foldName,
  notFound,
} from '@pungi/core/environments';
import type { Entry } from '../protocol/environments.js';
import type { Entries } from './entries.js';
import type { Workers } from './workers.js';

/** Finds and describes the environments of a cluster. */
export class Catalog {
  readonly defaultName: string;

  constructor(
    private readonly entries: Entries,
    private readonly workers: Workers,
    private readonly options: EnvironmentsOptions,
  ) {
    this.defaultName = checkName(options.defaultName);
  }

  hasDefault(): boolean {
    return this.find(this.defaultName) !== undefined;
  }

  nameOf(venvName: string | undefined): string {
    return venvName === undefined ? this.defaultName : checkName(venvName, { allowInline: true });
  }

  find(name: string): Entry | undefined {
    return this.entries.find(name);
  }

  /** Another front end may just have made it. */
  async existing(name: string): Promise<Entry> {
    return this.find(name) ?? (await this.stored(name)).entry;
  }

  /** What the cluster has now. Throws ENVIRONMENT_NOT_FOUND. */
  async stored(name: string): Promise<{ entry: Entry; revision: number }> {
    const { entry, revision } = await this.entries.fresh(name);
    if (entry === undefined) throw notFound(name, this.entries.names, this.options.advice);
    return { entry, revision };
  }

  /** Throws ENVIRONMENT_EXISTS. */
  async absent(name: string): Promise<{ entry: undefined; revision: number }> {
    const { entries } = this;
    const { entry, revision } = await entries.fresh(name);
    if (entry) throw alreadyThere(entry.metadata);
    const clash = entries.names.find((other) => foldName(other) === foldName(name));
    if (clash !== undefined) throw differsInCase(name, clash);
    return { entry, revision };
  }

  refuseBareDefault(name: string): void {
    if (name === this.defaultName && !this.hasDefault()) throw bareDefault(name);
  }

  describe(name: string): EnvironmentInfo {
    const { entries, workers } = this;
    const entry = this.find(name);
    const isDefault = name === this.defaultName;
    const { at: lastUsed } = entries.use(name);
    if (entry === undefined)
      return describeBare(name, {
        state: 'ready',
        isDefault,
        pythonVersion: workers.all[0]?.interpreter.version ?? '',
        description: this.options.systemPackages ? "the interpreter's own packages" : 'nothing installed yet',
        lastUsed: lastUsed?.toISOString() ?? null,
        warmOn: [],
      });
    const { metadata } = entry;
    const holders = workers.all.filter(({ generations }) => generations.includes(metadata.generation));
    const warmOn = holders.map(({ worker }) => worker).sort();
    const isWarm = warmOn.length > 0;
    return { ...describeWhole(metadata, { isDefault, isWarm, path: null, lastUsed }), warmOn };
  }
}
