import { PungiError } from '@pungi/core/base';
import type { RunOptions } from '@pungi/core/contract';
import {
  discoverScript,
  type PythonSide,
  type ScriptLook,
  type ScriptToLookAt,
  wantsItsOwn,
} from './discover-script.js';

/** Where a script is to run, as its tools file says it. */
export interface Surrounding {
  environment: string | null;
  profile: string | null;
}

/** Where it then runs. */
interface Where {
  /** Null: the default one, or one that is made for it. */
  environment: string | null;
  /** What the one to be made holds, whatever the script itself asks for. */
  packages: readonly string[];
}

export interface Looked {
  look: ScriptLook;
  /** The environment that its imports were looked for in; null: one that is made for it. */
  environment: string | null;
}

/** A script without the place that it runs in. */
export type Script = Pick<ScriptToLookAt, 'code' | 'path' | 'filename' | 'include' | 'toolName'>;

/** Looks at a script as the server will run it. Throws where its profile or its environment is missing. */
export async function lookAt(
  side: PythonSide,
  script: Script,
  surrounding: Surrounding,
  options: RunOptions = {},
): Promise<Looked> {
  const { environment, packages } = whereOf(side, surrounding);
  const { profile } = surrounding;
  const look = await discoverScript(side, { ...script, environment, packages, profile }, options);
  const isMadeForIt = wantsItsOwn(look.discovery, packages);
  return { look, environment: environment ?? (isMadeForIt ? null : side.environments.defaultName) };
}

/** The place that a script is to run in, as it is now. */
export interface Availability {
  /** Why calls cannot run, in words: its profile or its environment is missing, or they do not go together. */
  trouble: string | null;
  /** Another one means that other packages are installed there; null: nobody has installed any. */
  generation: string | null;
}

export async function availabilityOf(side: PythonSide, surrounding: Surrounding): Promise<Availability> {
  const { environments } = side;
  try {
    const { environment } = whereOf(side, surrounding);
    // A script may have an environment that is made for it: then the default one, whatever is wrong with it, does not matter.
    const found =
      environment === null
        ? await environments.metadata(environments.defaultName).catch(() => undefined)
        : await environments.metadata(environment);
    return { trouble: null, generation: found?.generation ?? null };
  } catch (error) {
    return { trouble: PungiError.from(error).message, generation: null };
  }
}

/** A profile may have an environment of its own. */
function whereOf({ profiles }: PythonSide, { environment, profile }: Surrounding): Where {
  if (profile === null) return { environment, packages: [] };
  const { name, environment: own, packages } = profiles.get(profile);
  if (environment !== null && own !== null && own !== environment) {
    const message = `Runs with the profile "${name}" are in the environment "${own}", not in "${environment}". Name no environment, or another profile.`;
    throw new PungiError('DENIED', message, { profile: name, venvName: environment });
  }
  return { environment: own ?? environment, packages: own === null && environment === null ? packages : [] };
}
