/** How clients start the wrapper. */
interface Start {
  /** What clients call the server. */
  name: string;
  command: string;
  args: string[];
}

/** On Windows there is no python3 by that name, and elsewhere often no python. */
export const pythonCommand = (platform: NodeJS.Platform = process.platform): string =>
  platform === 'win32' ? 'python' : 'python3';

/** What Claude Desktop, Claude Code, Cursor and others have in their settings. */
export const mcpServers = ({ name, command, args }: Start) => ({ mcpServers: { [name]: { command, args } } });

/** What VS Code has in .vscode/mcp.json. */
const vscodeServers = ({ name, command, args }: Start) => ({
  servers: { [name]: { type: 'stdio', command, args } },
});

export interface ConfigurationFile {
  path: string;
  /** Which client, and what to do with it. */
  use: string;
  content: object;
}

/** Stands for the place of the folder where a client knows no other than an absolute path. */
const PLACE = '/ABSOLUTE/PATH/TO';

/** One file for each way in which clients are told of a server. The folder may be moved: no path of this machine is in them. */
export function configurationFiles(
  name: string,
  folder: string,
  platform: NodeJS.Platform = process.platform,
): ConfigurationFile[] {
  const command = pythonCommand(platform);
  return [
    {
      path: 'claude_desktop_config.json',
      use: `Claude Desktop: copy it into the file of that name in its settings, with the real path in the place of ${PLACE}`,
      content: mcpServers({ name, command, args: [`${PLACE}/${folder}/wrapper.py`] }),
    },
    {
      path: '.mcp.json',
      use: 'Claude Code: holds when it is started in this folder',
      content: mcpServers({ name, command, args: ['wrapper.py'] }),
    },
    {
      path: '.vscode/mcp.json',
      use: 'VS Code: holds when this folder is opened',
      content: vscodeServers({ name, command, args: [`\${workspaceFolder}/wrapper.py`] }),
    },
  ];
}
