import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { folderFiles, requirementsText } from '../src/standalone/folder.js';
import { configurationFiles, pythonCommand, readmeText } from '../src/standalone/readme.js';
import { placeFor, writeFolder } from '../src/standalone/write-folder.js';
import { makeToolsFile, toolsFileText } from '../src/tools-file/make-tools-file.js';
import { discovered, functionTool, lookOf, scriptTool } from './tools.js';

const root = temporaryFolder();
const look = lookOf(
  discovered({
    functions: [functionTool('total', { description: 'Adds up <b>a | b</b>.\n\nAnd more.' })],
    scripts: [scriptTool('report', { hidden: true })],
    dependencies: ['pandas>=2'],
    requiresPython: '>=3.11',
  }),
  { code: 'x = 1\n', modules: [{ path: 'shop/__init__.py', content: Buffer.from('y = 2\n') }] },
);
const file = makeToolsFile(look, {
  name: 'report',
  script: 'report.py',
  mode: 'auto',
  environment: null,
  profile: null,
});

describe('client configuration', () => {
  const files = configurationFiles('report', 'report-mcp', 'linux');
  const contentOf = (path: string) => files.find((one) => one.path === path)!.content;

  test('is of the form that each client reads', () => {
    expect(contentOf('claude_desktop_config.json')).toEqual({
      mcpServers: { report: { command: 'python3', args: ['/ABSOLUTE/PATH/TO/report-mcp/wrapper.py'] } },
    });
    expect(contentOf('.mcp.json')).toEqual({
      mcpServers: { report: { command: 'python3', args: ['wrapper.py'] } },
    });
    expect(contentOf('.vscode/mcp.json')).toEqual({
      // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code puts the folder there.
      servers: { report: { type: 'stdio', command: 'python3', args: ['${workspaceFolder}/wrapper.py'] } },
    });
  });

  test('starts Python by the name that the system knows', () => {
    expect(pythonCommand('win32')).toBe('python');
    expect(JSON.stringify(configurationFiles('report', 'report-mcp', 'win32'))).not.toContain('python3');
  });
});

describe('requirements.txt', () => {
  test('holds what the script names itself', () => {
    expect(requirementsText(look)).toBe('# From the "# /// script" block of report.py.\npandas>=2\n');
  });

  test('else the packages of what it imports', () => {
    const bare = lookOf(discovered(), { imports: ['yaml', 'cv2', 'pandas'] });
    expect(requirementsText(bare)).toMatch(
      /^# From what report\.py imports\.\nopencv-python\npandas\npyyaml\n$/,
    );
  });

  test('is not there where nothing has to be installed', () => {
    expect(requirementsText(lookOf(discovered()))).toBeNull();
  });
});

describe('the README', () => {
  const text = readmeText({
    name: 'report',
    files: [file],
    requirements: 'pandas>=2\n',
    configurations: configurationFiles('report', 'report-mcp'),
  });

  test('tells the tools that are offered, and lets no text of the script be markup', () => {
    expect(text).toContain('| `total` | Adds up &lt;b>a \\| b&lt;/b>. | `path`: text |');
    expect(text).not.toContain('`report` |');
  });

  test('tells what has to be installed, and how clients are told', () => {
    for (const part of [
      'pip install -r requirements.txt',
      '>=3.11',
      '.vscode/mcp.json',
      'WRAPPER_MAX_MEMORY_MB',
    ])
      expect(text).toContain(part);
  });
});

describe('the folder', () => {
  const write = (name: string, force = false) => {
    const place = placeFor(join(root, name), ['report.py'], force);
    writeFolder(place, folderFiles(place.folder, 'report', [{ file, look }]));
    return join(root, name);
  };
  const everything = [
    '.mcp.json',
    '.vscode/mcp.json',
    'README.md',
    'claude_desktop_config.json',
    'report.py',
    'requirements.txt',
    'shop/__init__.py',
    'tools.json',
    'tools.schema.json',
    'wrapper.py',
  ];
  const filesIn = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort();

  test('holds the script, what it imports, and all that serves it', () => {
    const folder = write('new');
    expect(filesIn(folder)).toEqual(everything);
    expect(readFileSync(join(folder, 'report.py'), 'utf8')).toBe('x = 1\n');
    expect(JSON.parse(readFileSync(join(folder, 'tools.json'), 'utf8'))).toMatchObject({
      $schema: './tools.schema.json',
      script: 'report.py',
      modules: ['shop/__init__.py'],
    });
    expect(readdirSync(root).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test.each([
    ['wrapper.py'],
    ['tools.json'],
    ['TOOLS.json'],
    ['wrapper.py/inner.csv'],
    ['.vscode'],
    ['.vscode/mcp.json'],
  ])('holds no %s of the script', (path) => {
    const clashing = { ...look, modules: [{ path, content: Buffer.from('x') }] };
    expect(() => folderFiles('report-mcp', 'report', [{ file, look: clashing }])).toThrow(
      `"${path}" cannot go into the folder: a file of the wrapper has that name. Rename it.`,
    );
  });

  test('may be there already where it is empty, and its parents need not be', () => {
    mkdirSync(join(root, 'empty'));
    expect(filesIn(write('empty'))).toEqual(everything);
    expect(filesIn(write('a/b/c'))).toEqual(everything);
  });

  test('is refused where something else is in it, with --force as well', () => {
    mkdirSync(join(root, 'full'));
    writeFileSync(join(root, 'full/README.md'), 'mine');
    for (const force of [false, true]) expect(() => write('full', force)).toThrow('is not empty');
    expect(readFileSync(join(root, 'full/README.md'), 'utf8')).toBe('mine');
    expect(() => write('full/README.md')).toThrow('is no folder');
  });

  test('that was made before is written anew with --force, and what is not ours stays', () => {
    const folder = write('again');
    expect(() => write('again')).toThrow('--force writes it anew');
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    writeFileSync(join(folder, 'wrapper.py'), 'broken');
    write('again', true);
    expect(filesIn(folder)).toEqual([...everything, 'notes.txt'].sort());
    expect(readFileSync(join(folder, 'wrapper.py'), 'utf8')).toContain('MCP');
  });

  test('loses its requirements where there are none any more', () => {
    const folder = write('less');
    const place = placeFor(folder, ['report.py'], true);
    const bare = lookOf(discovered({ functions: look.discovery.functions }));
    writeFolder(place, folderFiles(folder, 'report', [{ file, look: bare }]));
    expect(existsSync(join(folder, 'requirements.txt'))).toBe(false);
  });

  test('of another script is not taken, nor one whose tools.json is broken', () => {
    const folder = write('other');
    writeFileSync(join(folder, 'tools.json'), toolsFileText({ ...file, script: 'other.py' }));
    expect(() => write('other', true)).toThrow('holds the tools of other.py');
    writeFileSync(join(folder, 'tools.json'), '{}');
    expect(() => write('other', true)).toThrow('version: must be 1');
  });

  test.each([{ filename: 'wrapper.py' }, { modules: [{ path: 'wrapper.py', content: Buffer.from('') }] }])(
    'is refused where a file of the script has the name of one of the wrapper: %j',
    (more) => {
      expect(() => folderFiles(root, 'report', [{ file, look: { ...look, ...more } }])).toThrow(
        '"wrapper.py" cannot go into the folder',
      );
    },
  );
});
