import { PungiError } from '../../base/errors.js';
import type { Config } from '../../config/schema.js';
import type { ToolsFile } from '../../contract/wrap.js';
import type { Pungi } from '../../pungi.js';
import { readRegistered, register, toolsNameOf } from '../../wrap/tools-folder/registrations.js';
import type { WrapFlags } from './flags.js';
import { missingLines } from './missing.js';
import type { OwnScript } from './read-script.js';
import { folderOf } from './subcommand.js';
import { countOffered, type OfferedNames, toolsText, type Wrap, wrapOwn } from './wrapping.js';

/** `pungi wrap FILE`: the script stays where it is, and the server offers its tools. */
export function intoServer(own: OwnScript, config: Config, flags: WrapFlags): Wrap {
  const folder = folderOf(config);
  const name = flags.name ?? toolsNameOf(own.filename);
  // In it a person may have given the tools another name than that of the file.
  const old = ownRegistration(folder, name, own.path, flags.force ?? false);
  return async (pungi, surroundings) => {
    const wrapped = await wrapOwn(pungi, surroundings, own, flags, {
      name: old?.name ?? name,
      script: own.path,
      old,
      since: old?.since ?? new Date().toISOString(),
    });
    const { file, look, environment } = wrapped;
    const missing = missingLines(look.missingImports, environment);
    const toolsFile = register(folder, name, file);
    const names = await namesOffered(pungi, name, own.path);
    const again = old === undefined ? '' : ' again';
    const said = `Wrapped ${own.filename}${again} as "${name}": "pungi serve" offers ${countOffered(names)} of it.\n`;
    const where = `The tools folder is ${folder}.\n`;
    return {
      json: { toolsFile, tools: [...names.values()], contents: file },
      text: toolsText(wrapped, names, missing, surroundings.style) + said + where,
    };
  };
}

/** As a server that starts now would offer them, beside all that is in the folder already. */
async function namesOffered({ wrapped }: Pungi, name: string, path: string): Promise<OfferedNames> {
  await wrapped.look();
  const own = [...wrapped.tools.values()].filter(
    ({ group, script }) => group === name && script.path === path,
  );
  return new Map(own.map((tool) => [tool.spec.name, tool.name]));
}

/** What is registered under the name, where it is the same script. */
function ownRegistration(folder: string, name: string, path: string, force: boolean): ToolsFile | undefined {
  const found = foundUnder(folder, name, force);
  if (found === undefined || found.script === path) return found;
  if (force) return undefined;
  const message = `"${name}" is the name of the tools of ${found.script}; choose another with --name, or --force takes it.`;
  throw new PungiError('INVALID_INPUT', message, { name, script: found.script });
}

function foundUnder(folder: string, name: string, force: boolean): ToolsFile | undefined {
  try {
    return readRegistered(folder, name);
  } catch (error) {
    // A file that cannot be read has nothing that could be kept.
    if (force) return undefined;
    const { message, details } = PungiError.from(error);
    throw new PungiError('INVALID_INPUT', `${message} Mend it, or --force writes it anew.`, { ...details });
  }
}
