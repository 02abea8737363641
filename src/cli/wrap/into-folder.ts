import { join } from 'node:path';
import { countText } from '../../base/terminal.js';
import { mcpServers, pythonCommand } from '../../wrap/standalone/client-configuration.js';
import { folderFiles, REQUIREMENTS_FILE } from '../../wrap/standalone/folder.js';
import { placeFor, writeFolder } from '../../wrap/standalone/write-folder.js';
import { TOOLS_FILE } from '../../wrap/tools-file/make-tools-file.js';
import { toolsNameOf } from '../../wrap/tools-folder/registrations.js';
import type { WrapFlags } from './flags.js';
import type { OwnScript } from './read-script.js';
import { countOffered, ownNames, toolsText, type Wrap, wrapOwn } from './wrapping.js';

const INSTALL = `The script needs packages, for the Python that serves it: ${pythonCommand()} -m pip install -r ${REQUIREMENTS_FILE}`;

/** `pungi wrap FILE -o FOLDER`: a folder that runs anywhere. */
export function intoFolder(own: OwnScript, output: string, flags: WrapFlags): Wrap {
  const { filename } = own;
  const place = placeFor(output, filename, flags.force ?? false);
  return async (pungi, surroundings) => {
    const { old } = place;
    const name = flags.name ?? old?.name ?? toolsNameOf(filename);
    const wrapped = await wrapOwn(pungi, surroundings, own, flags, { name, script: filename, old });
    const { file, look } = wrapped;
    const files = folderFiles(place.folder, file, look);
    writeFolder(place, files);
    const client = mcpServers({
      name: file.name,
      command: pythonCommand(),
      args: [join(place.folder, 'wrapper.py')],
    });
    const names = ownNames(file);
    const paths = files.map(({ path }) => path);
    const text = [
      toolsText(wrapped, names, paths.includes(REQUIREMENTS_FILE) ? [INSTALL] : [], surroundings.style),
      `Wrote ${countText(files.length, 'file')} to ${output}: ${countOffered(names)} of ${filename}.\n`,
      `For clients that start their servers themselves:\n${JSON.stringify(client, null, 2)}\n`,
    ];
    const json = {
      folder: place.folder,
      files: paths,
      toolsFile: join(place.folder, TOOLS_FILE),
      contents: file,
      client,
    };
    return { json, text: text.join('') };
  };
}
