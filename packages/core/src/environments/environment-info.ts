import type { EnvironmentInfo } from '../contract/environment.js';
import type { Metadata } from './store/metadata.js';

const megabytes = (bytes: number) => Math.round((bytes / 1024 / 1024) * 10) / 10;

interface Surroundings {
  isDefault: boolean;
  isWarm: boolean;
  lastUsed: Date | null;
  path: string;
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
