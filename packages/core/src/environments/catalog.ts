import { PungiError } from '../base/errors.js';
import type { EnvironmentInfo, PackageInfo } from '../contract/environment.js';
import type { EngineSide, EnvironmentEditor } from './editor.js';
import { nameKey } from './requirements/requirement.js';
import { checkName } from './store/layout.js';
import type { Metadata } from './store/metadata.js';
import type { Store } from './store/store.js';

interface CatalogOptions {
  defaultName: string;
  systemPackages: boolean;
  packagesSeen: ((venvName: string) => Promise<readonly PackageInfo[]>) | undefined;
}

/** Lists and describes environments. */
export class Catalog {
  /** Package counts of environments that see their interpreter's packages, by name and generation. */
  #counts = new Map<string, number>();

  constructor(
    private readonly store: Store,
    private readonly editor: EnvironmentEditor,
    private readonly engine: EngineSide,
    private readonly options: CatalogOptions,
  ) {}

  get defaultName(): string {
    return this.options.defaultName;
  }

  /** Whether an environment sees its interpreter's packages. For the default one the setting decides. */
  inherits(name: string, metadata: Metadata | undefined): boolean {
    return name === this.defaultName ? this.options.systemPackages : metadata?.inherit === true;
  }

  /** Whether anything was installed into the default environment. */
  hasDefault(): boolean {
    return this.store.isThere(this.defaultName);
  }

  nameOf(venvName: string | undefined): string {
    return venvName === undefined ? this.defaultName : checkName(venvName, { allowInline: true });
  }

  /** The default environment is empty until something is installed. */
  isBare(name: string): boolean {
    return name === this.defaultName && !this.hasDefault();
  }

  refuseBareDefault(name: string): void {
    if (this.isBare(name)) throw bareDefault(name);
  }

  async list(): Promise<EnvironmentInfo[]> {
    const names = new Set([this.defaultName, ...(await this.store.names())]);
    return Promise.all([...names].map((name) => this.describe(name)));
  }

  async show(venvName?: string): Promise<EnvironmentInfo> {
    const name = this.nameOf(venvName);
    if (name !== this.defaultName && !this.store.isThere(name)) throw await this.editor.notFound(name);
    return this.describe(name);
  }

  /** Null if runs also see the interpreter's packages, which only a run can list. */
  async ownPackages(venvName?: string): Promise<PackageInfo[] | null> {
    const metadata = await this.metadata(venvName);
    return this.inherits(this.nameOf(venvName), metadata) ? null : (metadata?.packages ?? []);
  }

  /** The interpreter's packages that runs see: the environment's own packages hide others of the same name. */
  async inheritedPackages(name: string): Promise<PackageInfo[]> {
    const metadata = await this.metadata(name);
    if (!this.inherits(name, metadata) || !this.options.packagesSeen) return [];
    const own = new Set(metadata?.packages.map((one) => nameKey(one.name)));
    return (await this.options.packagesSeen(name)).filter((one) => !own.has(nameKey(one.name)));
  }

  /** Returns the metadata of an environment, or undefined for the default one before anything was installed. */
  async metadata(venvName?: string): Promise<Metadata | undefined> {
    const name = this.nameOf(venvName);
    const metadata = await this.store.find(name);
    if (!metadata && name !== this.defaultName) throw await this.editor.notFound(name);
    return metadata;
  }

  async describe(name: string): Promise<EnvironmentInfo> {
    const isDefault = name === this.defaultName;
    const isWarm = this.engine.isWarm(name);
    try {
      const metadata = await this.store.find(name);
      if (metadata) {
        const path = this.store.layout.venv(name, metadata.generation);
        const lastUsed =
          (await this.store.lastUsed(name)) ?? (isDefault ? await this.store.lastBareUse(name) : null);
        const packageCount = await this.#countPackages(name, metadata);
        return { ...describeWhole(metadata, { isDefault, isWarm, path, lastUsed }), packageCount };
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
    const description = this.options.systemPackages
      ? "the interpreter's own packages"
      : 'nothing installed yet';
    const packageCount = await this.#countPackages(name, undefined);
    const lastUsed = await this.store.lastBareUse(name);
    return describeBare(name, {
      state: 'ready',
      isDefault,
      isWarm,
      pythonVersion,
      description,
      packageCount,
      lastUsed: lastUsed?.toISOString() ?? null,
    });
  }

  /** The same count as in list_packages. */
  async #countPackages(name: string, metadata: Metadata | undefined): Promise<number> {
    const own = metadata?.packages.length ?? 0;
    if (!this.inherits(name, metadata)) return own;
    const key = `${name} ${metadata?.generation ?? ''}`;
    const known = this.#counts.get(key) ?? (await this.#countSeen(name));
    if (known !== undefined) this.#counts.set(key, known);
    return known ?? own;
  }

  async #countSeen(name: string): Promise<number | undefined> {
    const seen = await this.options.packagesSeen?.(name).catch(() => undefined);
    return seen?.length;
  }
}

const megabytes = (bytes: number) => Math.round((bytes / 1024 / 1024) * 10) / 10;

interface Surroundings {
  isDefault: boolean;
  isWarm: boolean;
  lastUsed: Date | null;
  /** Null if it is on other machines. */
  path: string | null;
}

export function describeWhole(
  metadata: Metadata,
  { isDefault, isWarm, lastUsed, path }: Surroundings,
): EnvironmentInfo {
  return {
    venvName: metadata.name,
    description: metadata.description,
    state: 'ready',
    isDefault,
    isInline: metadata.inline,
    pythonVersion: metadata.python.version,
    path,
    requested: metadata.requested,
    packageCount: metadata.packages.length,
    sizeMb: megabytes(metadata.bytes),
    sharedMb: megabytes(metadata.sharedBytes),
    created: metadata.created,
    lastUsed: lastUsed?.toISOString() ?? null,
    isWarm,
  };
}

/** Describes an environment without metadata: the default one before anything was installed, or a damaged one. */
export function describeBare(
  venvName: string,
  about: Partial<EnvironmentInfo> & Pick<EnvironmentInfo, 'state' | 'isDefault'>,
): EnvironmentInfo {
  return {
    venvName,
    description: '',
    isInline: false,
    pythonVersion: '',
    path: null,
    requested: [],
    packageCount: 0,
    sizeMb: 0,
    sharedMb: 0,
    created: null,
    lastUsed: null,
    isWarm: false,
    ...about,
  };
}

export const bareDefault = (name: string): PungiError =>
  new PungiError(
    'ENVIRONMENT_NOT_FOUND',
    `The default environment "${name}" is empty: nothing was installed into it yet.`,
    { venvName: name },
  );
