import type { ToolSpec, ToolsFile } from '@pungi/core/contract';
import { type Parameter, parametersOf } from '../schema/parameters.js';
import { typeWords } from '../schema/type-words.js';

interface ReadmeInput {
  /** Of the server. */
  name: string;
  /** One for each script. */
  files: readonly ToolsFile[];
  /** What requirements.txt holds; null: there is none. */
  requirements: string | null;
  configurations: readonly ConfigurationFile[];
}

/** What whoever is given the folder needs to know. */
export function readmeText({ name, files, requirements, configurations }: ReadmeInput): string {
  const python = pythonCommand();
  const sections = [
    `# ${escaped(name)}`,
    ...(files.length > 1 ? [] : files.map(({ description }) => escaped(description))).filter(Boolean),
    `The tools of ${files.map(({ script }) => `\`${script}\``).join(', ')} for MCP clients, such as Claude, VS Code or the MCP Inspector. Python ${atLeast(files)} is all that is needed${requirements === null ? '' : ', and the packages of `requirements.txt`'}.`,
    ...(requirements === null ? [] : [installation(python)]),
    '## Tools',
    ...files.flatMap((file) => [...(files.length > 1 ? scriptHeading(file) : []), toolsTable(file.tools)]),
    '## Use it in a client',
    table(
      ['file', 'for'],
      configurations.map(({ path, use }) => [`\`${path}\``, use]),
    ),
    `Any other client that starts its servers itself is told: command \`${python}\`, argument \`wrapper.py\` with the whole path of it. On Windows the command is \`python\`, elsewhere mostly \`python3\`.`,
    '## Try it',
    code('sh', `npx @modelcontextprotocol/inspector ${python} wrapper.py`),
    'Without any client, a line of JSON is enough:',
    code('sh', `echo '{"jsonrpc": "2.0", "id": 1, "method": "ListTools"}' | ${python} wrapper.py`),
    'Beside the methods of MCP there are `ListTools`, `CallTool`, `GetToolInfo` and `HealthCheck`.',
    '## Change it',
    `${files.length > 1 ? 'Each `NAME.tools.json`' : '`tools.json`'} says what clients are told. In it you may give tools other names, titles and descriptions, describe their parameters, hide them (\`"hidden": true\`) and say what they do (\`annotations\`). An editor that knows JSON Schema helps with it (\`tools.schema.json\`). \`pungi wrap --force\` keeps such changes when the script has changed.`,
    '## Limits',
    'Each call runs in a process of its own, with the rights of whoever starts the wrapper: it is no sandbox. These variables hold for all calls:',
    table(
      ['variable', 'default', 'meaning'],
      SETTINGS.map(({ name, standard, about }) => [`\`${name}\``, standard, about]),
    ),
  ];
  return `${sections.join('\n\n')}\n`;
}

const scriptHeading = ({ script, description }: ToolsFile) => [
  `### ${escaped(script)}`,
  ...(description === '' ? [] : [escaped(description)]),
];

function atLeast(files: readonly ToolsFile[]): string {
  const wanted = [...new Set(files.flatMap(({ requiresPython }) => requiresPython ?? []))];
  return wanted.length === 0
    ? '3.10 or newer'
    : `3.10 or newer (the script says: ${wanted.map((one) => `\`${one}\``).join(', ')})`;
}

const installation = (python: string) =>
  [
    code('sh', `${python} -m pip install -r requirements.txt`),
    'The wrapper runs the script with the Python that it is started with, or with that of `WRAPPER_PYTHON_EXECUTABLE`, such as the one of a virtual environment. With uv, nothing has to be installed before: let clients start `uv run --no-project --with-requirements requirements.txt wrapper.py`.',
  ].join('\n\n');

function toolsTable(tools: readonly ToolSpec[]): string {
  const offered = tools.filter(({ hidden }) => hidden !== true);
  const rows = offered.map(({ name, description, inputSchema }) => [
    `\`${name}\``,
    firstSentence(description),
    parametersOf(inputSchema)
      .map((parameter) => parameterText(parameter, inputSchema['$defs']))
      .join('<br>'),
  ]);
  return table(['tool', 'what it does', 'parameters'], rows);
}

const parameterText = ({ name, schema, isRequired }: Parameter, definitions: unknown) =>
  `\`${name}\`: ${typeWords(schema, definitions)}${isRequired ? '' : ', optional'}`;

const firstSentence = (text: string) => text.trim().split('\n\n', 1)[0]!.replaceAll(/\s+/g, ' ');

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellText).join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
}

const cellText = (text: string) => escaped(text).replaceAll('|', '\\|').replaceAll('\n', ' ');
/** Text of a script is no HTML of the page; line breaks of our own are. */
const escaped = (text: string) => text.replaceAll(/<(?!br>)/g, '&lt;');
const code = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

/** The variables that wrapper.py reads (packages/core/python/standalone), for its README. A test compares. */
export const SETTINGS: readonly { name: string; standard: string; about: string }[] = [
  { name: 'WRAPPER_MAX_EXECUTION_TIME', standard: '300', about: 'seconds that a call may take' },
  { name: 'WRAPPER_MAX_MEMORY_MB', standard: '512', about: 'memory of a call, in MB' },
  { name: 'WRAPPER_MAX_OUTPUT_LINES', standard: '10000', about: 'printed lines that are kept' },
  { name: 'WRAPPER_MAX_CONCURRENT', standard: '8', about: 'calls at the same time; the others wait' },
  {
    name: 'WRAPPER_PYTHON_EXECUTABLE',
    standard: 'the one that runs the wrapper',
    about: 'the Python that runs the script',
  },
  {
    name: 'WRAPPER_WORKING_DIR',
    standard: 'the folder of `wrapper.py`',
    about: 'the folder that calls run in',
  },
  {
    name: 'WRAPPER_STREAM_BUFFER',
    standard: '1024',
    about: 'characters of one streamed line; longer ones come in parts',
  },
  {
    name: 'WRAPPER_STREAM_FLUSH',
    standard: '0.1',
    about: 'seconds after which an unfinished line is streamed',
  },
  {
    name: 'WRAPPER_ALLOW_NETWORK',
    standard: 'true',
    about: 'false refuses connections: a fence, not a wall',
  },
  {
    name: 'WRAPPER_ALLOW_FILE_WRITE',
    standard: 'true',
    about: 'false refuses writing to files: a fence, not a wall',
  },
  {
    name: 'WRAPPER_LOG_FILE',
    standard: 'standard error',
    about: 'where failures are logged, with the output of the call',
  },
];

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

interface ConfigurationFile {
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
