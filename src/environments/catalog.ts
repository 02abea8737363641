import { PungiError } from '../base/errors.js';
import type { EnvironmentInfo } from '../contract/environment.js';
import { describeBare, describeWhole } from './environment-info.js';
import { checkName } from './name.js';
import type { Metadata } from './store/metadata.js';
import type { Store } from './store/store.js';
import type { EngineSide, Workshop } from './workshop.js';

/** Which environments there are, and what there is to say of them. */
export class Catalog {
  constructor(
    private readonly store: Store,
    private readonly workshop: Workshop,
    private readonly engine: EngineSide,
    readonly defaultName: string,
  ) {}

  /** Whether the default environment is more than the interpreter itself. */
  hasDefault(): boolean {
    return this.store.isThere(this.defaultName);
  }

  nameOf(venvName: string | undefined): string {
    return venvName === undefined ? this.defaultName : checkName(venvName, { allowInline: true });
  }

  /** The default environment has nothing of its own until something is installed. */
  refuseBareDefault(name: string): void {
    if (name !== this.defaultName || this.hasDefault()) return;
    throw new PungiError(
      'ENVIRONMENT_NOT_FOUND',
      `The default environment "${name}" is the interpreter itself: nothing was installed into it yet.`,
      { venvName: name },
    );
  }

  async list(): Promise<EnvironmentInfo[]> {
    const names = new Set([this.defaultName, ...(await this.store.names())]);
    return Promise.all([...names].map((name) => this.describe(name)));
  }

  async show(venvName?: string): Promise<EnvironmentInfo> {
    const name = this.nameOf(venvName);
    if (name !== this.defaultName && !this.store.isThere(name)) throw await this.workshop.notFound(name);
    return this.describe(name);
  }

  /** What is known of an environment; undefined while the default one is the interpreter itself. */
  async metadata(venvName?: string): Promise<Metadata | undefined> {
    const name = this.nameOf(venvName);
    const metadata = await this.store.find(name);
    if (!metadata && name !== this.defaultName) throw await this.workshop.notFound(name);
    return metadata;
  }

  async describe(name: string): Promise<EnvironmentInfo> {
    const isDefault = name === this.defaultName;
    const isWarm = this.engine.isWarm(name);
    try {
      const metadata = await this.store.find(name);
      if (metadata) {
        const path = this.store.layout.venv(name, metadata.generation);
        const lastUsed = await this.store.lastUsed(name);
        return describeWhole(metadata, { isDefault, isWarm, path, lastUsed });
      }
    } catch (error) {
      const isDamaged = error instanceof PungiError && error.code === 'ENVIRONMENT_DAMAGED';
      const state = isDamaged ? 'damaged' : 'unreadable';
      return describeBare(name, { state, isDefault, path: this.store.layout.folder(name) });
    }
    const pythonVersion = await this.engine.interpreter().then(
      ({ version }) => version,
      () => '',
    );
    const description = 'the interpreter itself';
    return describeBare(name, { state: 'ready', isDefault, isWarm, pythonVersion, description });
  }
}
