/** How a command line or a module is read. `words`: it declares none that is read, so its words are given as a list. */
export type Reading = 'argparse' | 'optparse' | 'click' | 'typer' | 'words' | 'functions';

/** A program or module of PyPI: what is found, and what one call of it returns, in the server and in a standalone folder. */
export interface ProgramRow {
  /** What is installed. The versions are fixed, so that answers can be compared exactly. */
  package: string;
  /** A console script, or a file of the package by its path in site-packages. */
  wraps: string;
  reading: Reading;
  /** `--name`, where the name of the script is that of another tool. */
  name?: string;
  mode?: 'script';
  /** Tools that are found, the called one first. */
  tools: readonly string[];
  arguments: Record<string, unknown>;
  /** What a client sees: `stdout` and `exitCode` of a command line, `result` of a function. */
  returns?: Record<string, unknown>;
  /** Part of the reason for ✗, where it is right that it cannot be loaded. */
  problem?: string;
  /** What a call in the server shows now and then although it should not, and the reason, as in docs/wrap.md. */
  gap?: { shows: string; reason: string };
}

const printed = (stdout: string, exitCode = 0) => ({ exitCode, stdout });

const row = (
  [packageName, version]: [name: string, version: string],
  reading: Reading,
  wraps: string,
  args: Record<string, unknown>,
  returns: ProgramRow['returns'],
  more: Partial<ProgramRow> = {},
): ProgramRow => ({
  package: `${packageName}==${version}`,
  wraps,
  reading,
  tools: [wraps],
  arguments: args,
  ...(returns && { returns }),
  ...more,
});

const CSVKIT: [string, string] = ['csvkit', '2.2.0'];
const SLUGIFY: [string, string] = ['python-slugify', '9.1.3'];
const SHORTUUID: [string, string] = ['shortuuid', '1.0.13'];
const TOML: [string, string] = ['toml-cli', '0.8.2'];
const TQDM: [string, string] = ['tqdm', '4.70.1'];
const QRCODE: [string, string] = ['qrcode', '8.2'];
const COW = `  ___
| moo |
  ===
   \\
    \\
      ^__^
      (oo)\\_______
      (__)\\       )\\/\\
          ||----w |
          ||     ||
`;

const HI = ` _     _ 
| |_  (_)
| ' \\ | |
|_||_||_|
         

`;

/** Modules that runs use are preloaded. */
const READS_ARGV = 'its module reads `sys.argv` when it is imported, which may be before the call';

const ARGPARSE: ProgramRow[] = [
  row(SLUGIFY, 'argparse', 'slugify', { input_string: ['Hello World'] }, printed('hello-world\n'), {
    name: 'slug',
    tools: ['slug'],
  }),
  row(['cowsay', '6.1'], 'argparse', 'cowsay', { text: 'moo' }, printed(COW)),
  row(['faker', '40.54.0'], 'argparse', 'faker', { fake: 'word', seed: '1' }, printed('west\n\n')),
  row(
    ['sqlparse', '0.6.1'],
    'argparse',
    'sqlformat',
    { filename: ['-'], keyword_case: 'upper', stdin: 'select 1' },
    printed('SELECT 1'),
  ),
  row(
    ['pygments', '2.21.0'],
    'argparse',
    'pygmentize',
    { l: 'python', f: 'html', stdin: 'x' },
    printed('<div class="highlight"><pre><span></span><span class="n">x</span>\n</pre></div>\n'),
    { gap: { shows: "'fork-server'", reason: READS_ARGV } },
  ),
  row(CSVKIT, 'argparse', 'csvcut', { columns: 'b', stdin: 'a,b\n1,2\n' }, printed('b\n2\n')),
  row(CSVKIT, 'argparse', 'csvjson', { stdin: 'a,b\n5,x\n' }, printed('[{"a": 5.0, "b": "x"}]')),
  row(
    ['chardet', '7.7.0'],
    'argparse',
    'chardetect',
    { stdin: 'plain' },
    printed('stdin: ascii with confidence 1.0\n'),
  ),
  row(
    ['charset-normalizer', '3.5.2'],
    'argparse',
    'normalizer',
    { files: ['-'], minimal: true, stdin: 'plain text' },
    printed('ascii\n'),
  ),
  row(
    ['pyflakes', '4.1.0'],
    'argparse',
    'pyflakes',
    { stdin: 'import os\n' },
    printed("<stdin>:1:1: 'os' imported but unused\n", 1),
  ),
  row(['unidecode', '1.4.0'], 'argparse', 'unidecode', { text: 'Größe' }, printed('Grosse\n')),
  row(['ftfy', '6.3.1'], 'argparse', 'ftfy', { filename: '-', stdin: 'schÃ¶n' }, printed('schön')),
  row(
    ['mistune', '3.4.0'],
    'argparse',
    'mistune',
    { message: '**Hi**' },
    printed('<p><strong>Hi</strong></p>\n\n'),
  ),
  row(
    ['markdown-it-py', '4.3.0'],
    'argparse',
    'markdown-it',
    { stdin: true, stdin_2: '*Hi*' },
    printed('<p><em>Hi</em></p>\n'),
  ),
  row(['base58', '2.1.1'], 'argparse', 'base58', { stdin: 'hi' }, printed('8wr')),
  row(
    ['ansi2html', '1.9.5'],
    'argparse',
    'ansi2html',
    { inline: true, stdin: '\u001b[1mHi\u001b[0m' },
    printed('<span style="font-weight: bold">Hi</span>\n'),
  ),
  row(
    ['toml-sort', '0.25.0'],
    'argparse',
    'toml-sort',
    { all: true, stdin: 'b = 1\na = 2\n' },
    printed('a = 2\nb = 1\n'),
  ),
  row(['semver', '3.1.1'], 'argparse', 'pysemver', { version: '1.2.3' }, printed('2.0.0\n'), {
    tools: ['pysemver_bump_major', 'pysemver_compare', 'pysemver_bump_minor', 'pysemver_bump_patch'],
  }),
  row(['roman', '5.2'], 'argparse', 'roman', { number: '12' }, printed('XII\n')),
  row(
    ['titlecase', '2.3'],
    'argparse',
    'titlecase',
    { string: ['a tale of two cities'] },
    printed('A Tale of Two Cities'),
  ),
  row(
    ['yamllint', '1.38.0'],
    'argparse',
    'yamllint',
    { stdin: true, format: 'parsable', stdin_2: '---\na:  1\n' },
    printed('stdin:2:4: [error] too many spaces after colon (colons)\n', 1),
  ),
  row(
    ['codespell', '2.4.3'],
    'argparse',
    'codespell',
    { files: ['-'], stdin: 'teh\n' },
    printed('1: teh\n\tteh ==> the\n', 65),
  ),
  row(['idna', '3.20'], 'argparse', 'idna', { stdin: 'bücher.de\n' }, printed('xn--bcher-kva.de\n')),
  row(
    SHORTUUID,
    'argparse',
    'shortuuid/cli.py',
    { uuid: '3b1f8b40-222c-4a6e-b77e-779d5a94e21c' },
    printed('CXc85b4rqinB7s5J52TRYb\n'),
    { tools: ['cli_encode', 'cli_decode'] },
  ),
];

const OTHER_PARSERS: ProgramRow[] = [
  row(['pyfiglet', '1.0.4'], 'optparse', 'pyfiglet', { font: 'term', args: ['hi'] }, printed('hi\n\n')),
  row(
    ['markdown', '3.11.3'],
    'optparse',
    'markdown_py',
    { output_format: 'html', stdin: '# Hi' },
    printed('<h1>Hi</h1>'),
  ),
  row(
    ['pycodestyle', '2.15.0'],
    'optparse',
    'pycodestyle',
    { args: ['-'], stdin: 'x=1\n' },
    printed('stdin:1:2: E225 missing whitespace around operator\n', 1),
  ),
  row(
    ['docutils', '0.23'],
    'optparse',
    'rst2pseudoxml',
    { stdin: 'Hi\n' },
    printed('<document source="<stdin>">\n    <paragraph>\n        Hi\n'),
  ),
  row(QRCODE, 'optparse', 'qr', { args: ['hi'] }, undefined, {
    gap: {
      shows: "No module named 'PIL'",
      reason: 'it imports Pillow only when it is called, so it has a ✓ without it',
    },
  }),
  row(
    ['python-dotenv', '1.2.4'],
    'click',
    'dotenv',
    { file: '/dev/stdin', key: 'A', stdin: 'A=1\n' },
    printed('1\n'),
    { tools: ['dotenv_get', 'dotenv_list', 'dotenv_set', 'dotenv_unset', 'dotenv_run'] },
  ),
  row(
    ['sqlite-utils', '4.2.1'],
    'click',
    'sqlite-utils',
    { sql: 'select 1 + 1 as two' },
    printed('[{"two": 2}]\n'),
    { tools: ['sqlite-utils_memory', 'sqlite-utils_tables', 'sqlite-utils_views'] },
  ),
  row(['strip-tags', '0.6'], 'click', 'strip-tags', { stdin: '<b>Hi</b>' }, printed('Hi\n')),
  row(TOML, 'typer', 'toml', { toml_path: '/dev/stdin', key: 'a', stdin: 'a = 7\n' }, printed('7\n'), {
    tools: ['toml_get', 'toml_set', 'toml_add_section', 'toml_unset', 'toml_search'],
  }),
  row(
    TOML,
    'typer',
    'toml_cli/__init__.py',
    { toml_path: '/dev/null', key: 'a', default: 'none' },
    printed('none\n'),
    {
      tools: ['toml_cli_get', 'toml_cli_set'],
    },
  ),
  row(
    ['tabulate', '0.10.0'],
    'words',
    'tabulate',
    { args: ['-f', 'plain'], stdin: 'a 1\nb 2\n' },
    printed('a  1\nb  2\n'),
  ),
  row(['art', '6.5'], 'words', 'art', { args: ['text', 'hi', 'small'] }, printed(HI)),
  row(['segno', '1.6.6'], 'words', 'segno', { args: ['--ver'] }, printed('Segno 1.6.6\n'), {
    gap: { shows: '[7m  ', reason: READS_ARGV },
  }),
  row(['fire', '0.7.1'], 'words', 'fire/__main__.py', { args: ['math', 'sqrt', '16'] }, printed('4.0\n'), {
    mode: 'script',
    tools: ['fire'],
  }),
];

const MODULES: ProgramRow[] = [
  row(
    ['humanize', '4.16.0'],
    'functions',
    'humanize/filesize.py',
    { value: 2048 },
    { result: '2.0 kB' },
    {
      tools: ['naturalsize'],
    },
  ),
  row(
    SLUGIFY,
    'functions',
    'slugify/slugify.py',
    { text: 'Hello World' },
    { result: 'hello-world' },
    {
      tools: ['slugify', 'smart_truncate'],
    },
  ),
  row(
    ['inflection', '0.5.1'],
    'functions',
    'inflection/__init__.py',
    { word: 'post' },
    { result: 'posts' },
    {
      tools: ['pluralize', 'camelize', 'dasherize', 'ordinal'],
    },
  ),
  row(
    ['haversine', '2.9.0'],
    'functions',
    'haversine/haversine.py',
    { point1: [0, 0], point2: [0, 1], unit: 'mi' },
    { result: 69.09341954924598 },
    { tools: ['haversine', 'get_avg_earth_radius', 'haversine_vector', 'inverse_haversine'] },
  ),
  row(
    ['astral', '3.2'],
    'functions',
    'astral/sun.py',
    { observer: { latitude: 51.5, longitude: 0 }, date: '2024-06-01' },
    { result: '2024-06-01T03:48:35.144614+00:00' },
    { tools: ['sunrise', 'sunset', 'noon', 'midnight'] },
  ),
  row(
    ['geojson-pydantic', '2.2.0'],
    'functions',
    'geojson_pydantic/geometries.py',
    { obj: { type: 'Point', coordinates: [1, 2] } },
    { result: { type: 'Point', coordinates: [1, 2] } },
    { tools: ['parse_geometry_obj'] },
  ),
  row(
    ['num2words', '0.5.6'],
    'functions',
    'num2words/__init__.py',
    { number: 42 },
    { result: 'forty-two' },
    {
      tools: ['num2words'],
    },
  ),
  row(TQDM, 'functions', 'tqdm/contrib/telegram.py', {}, undefined, {
    tools: [],
    problem: "No module named 'requests'",
  }),
  row(TQDM, 'functions', 'tqdm/contrib/slack.py', {}, undefined, { tools: [], problem: 'slack-sdk' }),
  row(QRCODE, 'functions', 'qrcode/image/pil.py', {}, undefined, {
    tools: [],
    problem: "No module named 'PIL'",
  }),
];

export const PROGRAMS: readonly ProgramRow[] = [...ARGPARSE, ...OTHER_PARSERS, ...MODULES];
