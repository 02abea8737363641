import {
  absent,
  type Hint,
  type HintContext,
  installCommandHint,
  isMadeFor,
  missingModuleHint,
  type Raised,
  remedy,
  say,
} from './missing-module.js';
import { distributionOf, knownDistribution } from './module-names.js';

/** Returns one sentence that suggests a fix for an exception. */
export function hintFor(raised: Raised, where: HintContext): Hint {
  if (raised.missingModule !== null) return missingModuleHint(raised, raised.missingModule, where);
  for (const rule of RULES) {
    const hint = rule(raised, where);
    if (hint !== null) return hint;
  }
  return say(null);
}

type Rule = (raised: Raised, where: HintContext) => Hint | null;

const RULES: readonly Rule[] = [
  notebookCommand,
  failedInstaller,
  relativeImport,
  optionalPackage,
  namespacePackage,
  unknownDialect,
  missingLibrary,
  noDisplay,
  noInput,
];

const INSTALLER = String.raw`(?:pip[\d.]*|conda|mamba|micromamba|uv|pipenv|poetry|easy_install|ensurepip)`;
const INSTALL_LINE = new RegExp(
  String.raw`^\s*(?:[!%]{1,2}\s*)?(?:sudo\s+)?(?:python[\d.]*\s+-m\s+)?${INSTALLER}\s+(?:pip\s+)?(?:install|add)\b`,
);
const MAGIC =
  /^\s*(?:!\s*[\w./~]|%{1,2}(?:matplotlib|load_ext|timeit|time|run|cd|env|bash|sh|capture|config|autoreload)\b)/;

/** Handles `!pip install` and other notebook commands, and what a notebook makes of them for a script. */
function notebookCommand({ type, text, message }: Raised, where: HintContext): Hint | null {
  if (type === 'NameError' && message.includes("'get_ipython'"))
    return say('There is no IPython shell here: leave its commands out, or use subprocess.');
  if (type !== 'SyntaxError' || text === null) return null;
  if (INSTALL_LINE.test(text)) return say(installCommandHint(text, where));
  if (/^\s*(?:```|>>> |In \[)/.test(text))
    return say('Pass the code alone, without marks around it such as ``` and >>>.');
  return MAGIC.test(text)
    ? say(
        'Lines that begin with "!" or "%" are commands of notebooks, not Python: use subprocess, or leave them out.',
      )
    : null;
}

const STARTS_PROGRAM = /(?:^|\.)(?:FileNotFoundError|PermissionError|CalledProcessError|TimeoutExpired)$/;
const NAMES_INSTALLER = new RegExp(String.raw`(?:^|[\s'"/])${INSTALLER}(?=['"\s])`);

/** Handles a run that calls pip or another installer. */
function failedInstaller({ type, message }: Raised, where: HintContext): Hint | null {
  return STARTS_PROGRAM.test(type) && NAMES_INSTALLER.test(message)
    ? say(installCommandHint(message, where))
    : null;
}

function relativeImport({ type, message }: Raised): Hint | null {
  return type === 'ImportError' && message.startsWith('attempted relative import')
    ? say(
        'The code is run as a script, which has no package: import the module by its name, without the dots.',
      )
    : null;
}

/**
 * Begins at a word boundary and has a bounded length: a run chooses the text, and the server searches it while others
 * wait.
 */
const NAME = String.raw`['"\x60]?(?<![\w.-])([A-Za-z][\w.-]{0,99}\w(?:\[[\w,-]{1,99}\])?)['"\x60]?`;
/** Messages of libraries that need another one. */
const NEEDS = [
  `Missing optional dependency ${NAME}`,
  String.raw`\bImport ${NAME} failed`,
  String.raw`${NAME} (?:\([\w.]+\) )?not found, please install`,
  `${NAME} (?:package|library|module) is not installed`,
  `${NAME} (?:package |library )?(?:must|needs to|has to) be installed`,
  `requires? (?:the )?${NAME} (?:package |library )?to be installed`,
  `accessor requires ${NAME}`,
  String.raw`(?:pip[\d.]*|conda) install (?:-\S+ )*${NAME}`,
  `install the ${NAME} package`,
  `[Pp]lease install ${NAME}`,
].map((pattern) => new RegExp(pattern, 'g'));
const SAYS_SO =
  /(?:^|\.)(?:\w*ImportError|ModuleNotFoundError|AttributeError|RuntimeError|ValueError|InvalidSchema)$/;
const MAX_SEARCHED = 4000;

/** Handles a library that needs an optional package. */
function optionalPackage({ type, message }: Raised, where: HintContext): Hint | null {
  if (!SAYS_SO.test(type)) return null;
  const searched = message.slice(0, MAX_SEARCHED);
  for (const [, found = ''] of NEEDS.flatMap((pattern) => [...searched.matchAll(pattern)])) {
    const [name = '', extras = ''] = found.split(/(?=\[)/);
    const known = knownDistribution(name);
    if (known === null) continue;
    const wanted = `${known}${extras}`;
    return {
      missingPackage: wanted,
      hint: `A package that this needs is not installed in the environment "${where.environment}". ${remedy(wanted, where)}`,
    };
  }
  return null;
}

/** Handles `from google.cloud import storage` if another package of google is installed. */
function namespacePackage({ type, message }: Raised, where: HintContext): Hint | null {
  const [, name, from] =
    /^cannot import name '(\w+)' from '([\w.]+)' \(unknown location\)/.exec(message) ?? [];
  const known = type === 'ImportError' && name ? distributionOf(`${from}.${name}`) : null;
  return known === null
    ? null
    : { missingPackage: known, hint: absent(`${from}.${name}`, false, known, where) };
}

const DIALECTS: Readonly<Record<string, string>> = {
  bigquery: 'sqlalchemy-bigquery',
  clickhouse: 'clickhouse-sqlalchemy',
  duckdb: 'duckdb-engine',
  redshift: 'sqlalchemy-redshift',
  snowflake: 'snowflake-sqlalchemy',
  trino: 'trino',
};

function unknownDialect({ type, message }: Raised, where: HintContext): Hint | null {
  const [, dialect] = /^Can't load plugin: sqlalchemy\.dialects:(\w+)/.exec(message) ?? [];
  if (!type.endsWith('NoSuchModuleError') || dialect === undefined) return null;
  if (dialect === 'postgres') return say('SQLAlchemy calls this database postgresql, not postgres.');
  const name = Object.hasOwn(DIALECTS, dialect) ? DIALECTS[dialect]! : null;
  return name === null
    ? null
    : {
        missingPackage: name,
        hint: `SQLAlchemy has no dialect "${dialect}" of its own. ${remedy(name, where)}`,
      };
}

function missingLibrary({ message }: Raised, where: HintContext): Hint | null {
  if (!/^libGL\.so\.1: cannot open shared object file/.test(message)) return null;
  const name = 'opencv-python-headless';
  const install = isMadeFor(where.environment)
    ? `use ${name} instead.`
    : where.advice.install(where.environment, [name]);
  return say(`opencv-python needs libraries for windows on a screen, and ${name} does not: ${install}`);
}

function noDisplay({ type, message }: Raised): Hint | null {
  const isBackend =
    type === 'ImportError' && /^(?:Cannot load backend|Failed to import any .* Qt binding)/.test(message);
  const isScreen =
    /no display name and no \$DISPLAY|couldn't connect to display|cannot connect to X server/.test(message);
  return isBackend || isScreen
    ? say(
        'There is no screen here: choose no matplotlib backend, and plt.show() returns the picture; or save figures to files.',
      )
    : null;
}

function noInput({ type, message }: Raised): Hint | null {
  return type === 'EOFError' && message === 'EOF when reading a line'
    ? say('Nothing is left of standard input: pass all that input() reads with the run.')
    : null;
}
