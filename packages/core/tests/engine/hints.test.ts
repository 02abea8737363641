import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { adviceFor, type Door } from '../../src/base/advice.js';
import { hintFor } from '../../src/engine/hints.js';
import { sharedPungi, verdictOf } from './pungi.js';

const scripts = mkdtempSync(join(tmpdir(), 'pungi-hints-'));
afterAll(() => rmSync(scripts, { recursive: true, force: true }));
const pungi = sharedPungi({ SCRIPT_ROOTS: scripts });

type Files = { path: string; text: string }[];

async function raised(code: string, files: Files = []) {
  return verdictOf(await pungi.run({ code, files }), 'python-error').exception;
}

const INSTALLS = /environments\.install\(/;

describe('a module that is not there', () => {
  test.each([
    ['yaml', 'pyyaml'],
    ['requests', 'requests'],
    ['sentence_transformers', 'sentence-transformers'],
    ['google.cloud.storage', 'google-cloud-storage'],
  ])('%s is of the package %s, which is known', async (module, name) => {
    const exception = await raised(`import ${module}`);
    expect(exception.missingPackage).toBe(name);
    expect(exception.hint).toContain(`environments.install("default", ["${name}"])`);
  });

  test('is found by the whole of what a line imports', async () => {
    const exception = await raised('from google.cloud import bigquery');
    expect(exception).toMatchObject({ missingModule: 'google', missingPackage: 'google-cloud-bigquery' });
  });

  test.each([
    'utils',
    'helpers',
    'config',
    'shared',
    'my_company_tools',
    'numpyy',
    'reqests',
    'pandsa',
    'constructor',
  ])('%s is not taken for a package of that name', async (module) => {
    const exception = await raised(`import ${module}`);
    expect(exception.missingPackage).toBeNull();
    expect(exception.hint).toMatch(
      /if it is a file of yours, pass it in files, as "\w+\.py"; if it is a package, install it by its name on the package index/,
    );
    expect(exception.hint).not.toContain(`["${module}"]`);
  });

  test.each([
    ['winreg', 'only there on Windows'],
    ['msvcrt', 'only there on Windows'],
    ['ConfigParser', 'no package provides it'],
    ['annotationlib.nothing', 'no package provides it'],
  ])('%s, of the standard library of another Python, is not to be installed', async (module, why) => {
    const exception = await raised(`import ${module}`);
    expect(exception.missingPackage).toBeNull();
    expect(exception.hint).toContain(why);
    expect(exception.hint).not.toMatch(INSTALLS);
  });

  test.each([
    ['distutils', 'removed in Python 3.12'],
    ['imp', 'use importlib'],
    ['tomllib', 'added in Python 3.11'],
  ])('%s of another version says which', (module, why) => {
    const { hint, missingPackage } = read({ missingModule: module });
    expect(missingPackage).toBeNull();
    expect(hint).toContain(why);
  });

  test('of a package that is there does not suggest to install the package', async () => {
    for (const code of [
      'import json.nothing',
      'import email.mime.nothing',
      'import xml.etree.nothing.deeper',
    ]) {
      const { hint, missingPackage } = await raised(code);
      expect(missingPackage).toBeNull();
      expect(hint).not.toMatch(INSTALLS);
    }
    const { hint, missingPackage } = read({ missingModule: 'numpy.nothing' });
    expect(missingPackage).toBeNull();
    expect(hint).toBe(
      '"numpy" is installed, but has no module "numpy.nothing": check the name, and the version of "numpy".',
    );
  });

  test('is not what a name that is missing from a module means, also after another try', async () => {
    const code = 'try:\n    import ujson\nexcept ImportError:\n    from json import nothing';
    expect(await raised(code)).toMatchObject({ missingModule: null, missingPackage: null, hint: null });
  });

  test('where a file has its name is no package', async () => {
    const { hint } = await raised('import requests.sessions', [{ path: 'requests.py', text: '' }]);
    expect(hint).toBe(
      "'requests' is not a package: if a file of yours has the name of the package, rename it.",
    );
  });
});

describe('a module that is a file of the caller', () => {
  const helpers = { path: 'src/requests.py', text: 'x = 1' };

  test('in another folder is named with its path, whatever package is called like it', async () => {
    const { hint, missingPackage } = await raised('import requests', [helpers]);
    expect(missingPackage).toBeNull();
    expect(hint).toBe(
      'The module "requests" is among the files as "src/requests.py": import it as src.requests, or pass it as "requests.py".',
    );
    await expect(pungi.run({ code: 'import src.requests', files: [helpers] })).resolves.toMatchObject({
      verdict: { kind: 'ok' },
    });
  });

  test('of a package whose other files came along is to be handed over, too', async () => {
    const { hint } = await raised('import shop.cart', [{ path: 'shop/__init__.py', text: '' }]);
    expect(hint).toBe(
      '"shop/cart.py" is not among the passed files of "shop": pass it in files, as "shop/cart.py".',
    );
  });

  test('beside a script on disk is named', async () => {
    mkdirSync(join(scripts, 'pkg'), { recursive: true });
    writeFileSync(join(scripts, 'report.py'), 'import requests');
    writeFileSync(join(scripts, 'requests.py'), 'x = 1');
    writeFileSync(join(scripts, 'other.py'), 'import pkg');
    writeFileSync(join(scripts, 'pkg', '__init__.py'), '');
    const hintOf = async (file: string) => {
      const { verdict } = await pungi.run({ file });
      return verdict.kind === 'python-error' ? verdict.exception.hint : verdict.kind;
    };
    chmodSync(scripts, 0o755);
    expect(await hintOf('report.py')).toBe('ok');
    expect(await hintOf(join(scripts, 'other.py'))).toBe('ok');
    // As root, the sandbox has a user of its own.
    chmodSync(scripts, 0o700);
    const isRoot = process.getuid!() === 0;
    expect(await hintOf('report.py')).toBe(
      isRoot
        ? '"requests.py" lies next to the script, but the sandbox\'s user cannot read it there: let other users read it and its folder, or pass it in files, as "requests.py".'
        : 'ok',
    );
    writeFileSync(join(scripts, 'sly.py'), 'raise ModuleNotFoundError("x", name="../../etc/passwd")');
    expect(await hintOf('sly.py')).toBeNull();
  });
});

describe('an installer', () => {
  test.each([
    ['!pip install rich', '["rich"]'],
    ['%pip install -q rich "numpy>=2"', '["rich", "numpy"]'],
    ['x = 1\n! python -m pip install --upgrade rich', '["rich"]'],
    ['pip install rich', '["rich"]'],
    ['python3 -m pip install rich', '["rich"]'],
    ['!conda install -y rich', '["rich"]'],
    ['!uv pip install rich', '["rich"]'],
    ['!uv add rich', '["rich"]'],
    ['!pip install -r requirements.txt', '[…]'],
    ['import pip\npip.main(["install", "rich"])', '[…]'],
    ['from pip._internal import main', '[…]'],
    ['import subprocess\nsubprocess.run(["conda", "install", "rich"])', '[…]'],
    ['import subprocess\nsubprocess.run(["uv", "pip", "install", "rich"])', '[…]'],
    [
      'import subprocess, sys\nsubprocess.check_call([sys.executable, "-m", "pip", "install", "rich"])',
      '["rich"]',
    ],
    ['import subprocess\nsubprocess.run("pip install rich==1.0", shell=True, check=True)', '["rich"]'],
    ['import subprocess, sys\nsubprocess.check_call([sys.executable, "-m", "ensurepip"])', '[…]'],
  ])('%s points to what installs packages', async (code, names) => {
    const { hint } = await raised(code);
    expect(hint).toMatch(
      /^Code cannot install packages while it runs: install (it|them) with environments\.install\("default", /,
    );
    expect(hint).toContain(names);
  });

  test.each<[Door, string]>([
    ['server', 'install it with the tool install_packages: packages ["rich"], venvName "default"'],
    ['command', 'install it with: pungi env install default rich'],
  ])('at the door of a %s is named in its own terms', (door, words) => {
    const said = { type: 'SyntaxError', message: 'invalid syntax', text: '!pip install rich' };
    expect(read(said, door).hint).toBe(`Code cannot install packages while it runs: ${words}`);
  });

  test('is not seen in other errors', async () => {
    for (const code of ['open("pip.txt")', 'raise ValueError("pip install")', 'x = (1\n % 2 3)', 'x = 1 !']) {
      expect((await raised(code)).hint).toBeNull();
    }
  });

  test('other commands of notebooks are named as such', async () => {
    for (const code of ['!ls -l', '%load_ext sql', '%%timeit\nx = 1']) {
      expect((await raised(code)).hint).toContain('commands of notebooks, not Python');
    }
    for (const code of ['```python\nprint(1)\n```', '>>> print(1)'])
      expect((await raised(code)).hint).toContain('Pass the code alone');
    const { hint } = await raised('get_ipython().run_line_magic("timeit", "1")');
    expect(hint).toContain('There is no IPython shell here');
  });
});

test('input() without input gets a hint', async () => {
  expect((await raised('input("name? ")')).hint).toContain('Nothing is left of standard input');
  expect((await raised('raise EOFError("other")')).hint).toBeNull();
});

describe('a package that another one needs', () => {
  test('is named by what pandas raises from a missing module', async () => {
    const code = py`
      try:
          import openpyxl
      except ImportError as error:
          raise ImportError("Missing optional dependency 'openpyxl'.  Use pip or conda to install openpyxl.") from error
    `;
    expect(await raised(code)).toMatchObject({ missingModule: 'openpyxl', missingPackage: 'openpyxl' });
  });

  test.each([
    ['ImportError', "Missing optional dependency 'pytables'.  Use pip or conda to install pytables.", null],
    ['ImportError', 'lxml not found, please install it', 'lxml'],
    ['ImportError', 'BeautifulSoup4 (bs4) not found, please install it', 'beautifulsoup4'],
    [
      'ImportError',
      "Unable to find a usable engine; tried using: 'pyarrow', 'fastparquet'.\nTrying to import the above resulted in these errors:\n - Missing optional dependency 'pyarrow'. pyarrow is required for parquet support.",
      'pyarrow',
    ],
    ['AttributeError', "The '.style' accessor requires jinja2", 'jinja2'],
    [
      'ImportError',
      '`Import tabulate` failed.  Use pip or conda to install the tabulate package.',
      'tabulate',
    ],
    [
      'ImportError',
      "Using http2=True, but the 'h2' package is not installed. Make sure to install httpx using `pip install httpx[http2]`.",
      'h2',
    ],
    ['ImportError', 'email-validator is not installed, run `pip install pydantic[email]`', 'pydantic[email]'],
    ['RuntimeError', 'Form data requires "python-multipart" to be installed.', 'python-multipart'],
    [
      'ValueError',
      '\nImage export using the "kaleido" engine requires the kaleido\npackage, which can be installed using pip:\n    $ pip install -U kaleido\n',
      'kaleido',
    ],
    ['ImportError', 'This needs `pip install pytorch`', null],
    [
      'ImportError',
      "Pandas requires version '3.1.0' or newer of 'openpyxl' (version '2.0' currently installed).",
      null,
    ],
    ['ValueError', 'the column requires numpy', null],
    ['KeyError', "'pip install rich'", null],
    ['sqlalchemy.exc.NoSuchModuleError', "Can't load plugin: sqlalchemy.dialects:duckdb", 'duckdb-engine'],
  ])('%s: %s', (type, message, name) => {
    const { missingPackage, hint } = read({ type, message });
    expect(missingPackage).toBe(name);
    if (name === null) expect(hint).toBeNull();
    else expect(hint).toContain(`"${name}"`);
  });

  test('is found where the namespace is there', () => {
    const message = "cannot import name 'storage' from 'google.cloud' (unknown location)";
    expect(read({ type: 'ImportError', message }).missingPackage).toBe('google-cloud-storage');
  });
});

test('what needs a screen says that there is none', () => {
  const message =
    "Cannot load backend 'TkAgg' which requires the 'tk' interactive framework, as 'headless' is currently running";
  expect(read({ type: 'ImportError', message }).hint).toContain('no screen');
  expect(
    read({ type: 'ImportError', message: 'libGL.so.1: cannot open shared object file: No such file' }).hint,
  ).toContain('opencv-python-headless');
});

/** The server does nothing else meanwhile. Where the time grows with the square of the length, so many do not end in time. */
test.each<[name: string, said: Partial<Parameters<typeof hintFor>[0]>]>([
  ['one long word', { type: 'ImportError', message: 'a'.repeat(33_000) }],
  ['a bracket that is never closed', { type: 'ImportError', message: `a[${'a'.repeat(33_000)}` }],
  ['one long option', { type: 'ImportError', message: `pip install ${'-a'.repeat(16_000)}` }],
  ['a line of spaces', { type: 'SyntaxError', text: ' '.repeat(2000) }],
])('a message that is hard to search holds nobody up: %s', { timeout: 3000 }, (_, said) => {
  for (let times = 0; times < 400; times++) read(said);
});

function read(said: Partial<Parameters<typeof hintFor>[0]>, door: Door = 'library') {
  const exception = {
    type: 'ModuleNotFoundError',
    message: '',
    text: null,
    missingModule: null,
    isProfileImport: false,
  };
  return hintFor(
    { ...exception, ...said },
    { environment: 'default', advice: adviceFor(door, true), files: [] },
  );
}
