// Builds dist from src when it is missing or older: judged by content, not by time stamps.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { at, root, scratch } from './repository.mjs';

const STAMP = 'dist/.built-from';

export function built() {
  if (!existsSync(at('dist/bundle/main.js')) || !existsSync(at(STAMP))) return false;
  return readFileSync(at(STAMP), 'utf8') === sourceHash();
}

/** Returns whether the types check as well. The files are written either way: tsc emits in spite of type errors. */
export function build() {
  const hash = sourceHash();
  const fresh = scratch(`dist-${process.pid}`);
  const tsc = at('node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', at('tsconfig.json'), '--outDir', fresh], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (existsSync(join(fresh, 'cli/src/main.js'))) {
    linkPackages(fresh);
    bundle(fresh);
    moveInto(fresh, at('dist'));
  }
  rmSync(fresh, { recursive: true, force: true });
  if (status === 0) writeFileSync(at(STAMP), hash);
  else console.error('The build has errors; see the lines above.');
  return status === 0;
}

/**
 * Bundles the command line. `main.js` is what users start: it is small, and CommonJS, which Node loads soonest. `run.cjs` is `pungi
 * run` in one file, so that its compiled code can be kept (packages/cli/src/compiled-code.ts). The other commands share
 * `program.mjs` and its chunks. Packages that load files of their own stay external.
 */
function bundle(folder) {
  // Loaded late: a check for a build may run before any package is installed.
  const { buildSync } = createRequire(import.meta.url)('esbuild');
  const options = {
    outdir: join(folder, 'bundle'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    external: ['@photostructure/sqlite', 'pino', 'pino-pretty', './program.mjs'],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'linked',
    // For the coverage of processes that tests start, and for `node --enable-source-maps`.
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'error',
  };
  const fromSource = (name) => join(folder, 'cli/src', name);
  buildSync({
    ...options,
    entryPoints: [fromSource('program.js')],
    splitting: true,
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  const common = {
    ...options,
    format: 'cjs',
    define: { 'import.meta.url': 'ownUrl', 'import.meta.dirname': '__dirname' },
    banner: { js: "const ownUrl = require('node:url').pathToFileURL(__filename).href;" },
  };
  buildSync({ ...common, entryPoints: [fromSource('main.js')] });
  buildSync({
    ...common,
    entryPoints: { run: fromSource('run-program.js') },
    outExtension: { '.js': '.cjs' },
    // Without them the file needs no loader of Node's for what it loads late.
    supported: { 'dynamic-import': false },
  });
  writeFileSync(join(folder, 'bundle/package.json'), '{ "type": "commonjs" }\n');
  if (/[^\0-\x7f]/.test(readFileSync(join(folder, 'bundle/run.cjs'), 'latin1')))
    throw new Error('bundle/run.cjs is not ASCII, as compiled-code.ts expects.');
}

/**
 * Users install one package: in the build, an import from `@pungi/core/base` becomes imports of the modules that
 * define the names. Through the package's index, a command would load modules that it does not use.
 */
function linkPackages(fresh) {
  const surfaces = surfacesOf(fresh);
  for (const name of filesOf(fresh).filter((file) => /\.(js|d\.ts)$/.test(file))) {
    const path = join(fresh, name);
    const text = readFileSync(path, 'utf8');
    const from = (target) => `'./${relative(dirname(path), target)}'`;
    const linked = text
      // As a namespace, what is not used of it stays out of the bundle, such as its messages in fifty languages.
      .replace("import { z } from 'zod';", "import * as z from 'zod';")
      .replaceAll(
        /(import|export)( type)? \{([^}]*)\} from ['"](@pungi\/[\w/-]+)['"];/g,
        (_, word, type = '', names, specifier) =>
          names
            .split(',')
            .map((item) => item.trim())
            .filter(Boolean)
            .map((item) => `${word}${type} { ${item} } from ${from(definedIn(surfaces, specifier, item))};`)
            .join(' '),
      )
      .replaceAll(
        /\{ (\w+) \} = await import\(['"](@pungi\/[\w/-]+)['"]\)/g,
        (_, item, specifier) => `{ ${item} } = await import(${from(definedIn(surfaces, specifier, item))})`,
      );
    if (/['"]@pungi\//.test(linked))
      throw new Error(`${name} imports a package with a syntax that the build does not support.`);
    if (linked !== text) writeFileSync(path, linked);
  }
}

function definedIn(surfaces, specifier, item) {
  const name = item.replace(/^type /, '').split(' as ')[0];
  const path = surfaces.get(specifier)?.get(name);
  if (path === undefined) throw new Error(`${specifier} does not export ${name}.`);
  return path;
}

/** Maps each exported name of each package entry to the module in the build that defines it. */
function surfacesOf(fresh) {
  const surfaces = new Map();
  for (const name of readdirSync(at('packages'))) {
    const { exports } = JSON.parse(readFileSync(at('packages', name, 'package.json'), 'utf8'));
    for (const [entry, source] of Object.entries(exports)) {
      const text = readFileSync(at('packages', name, source), 'utf8');
      const built = (path) => join(fresh, name, path.replace(/\.ts$/, '.js'));
      const names = new Map();
      for (const [, , item] of text.matchAll(
        /^export (async )?(?:function|const|class|interface|type) (\w+)/gm,
      ))
        names.set(item, built(source));
      for (const [, , items, path] of text.matchAll(/^export (type )?\{([^}]*)\} from '(\.[^']+)';/gm))
        for (const item of items.split(',').map((one) => one.trim().replace(/^type /, '')))
          if (item !== '') names.set(item, join(fresh, name, dirname(source), path));
      surfaces.set(join('@pungi', name, entry), names);
    }
  }
  return surfaces;
}

/**
 * Moves files one by one, each with a rename: a server that starts meanwhile never finds a missing or partial file.
 */
function moveInto(fresh, dist) {
  const names = filesOf(fresh);
  for (const name of names) {
    mkdirSync(dirname(join(dist, name)), { recursive: true });
    if (name.endsWith('.map')) liftSources(join(fresh, name));
    renameSync(join(fresh, name), join(dist, name));
  }
  const keep = new Set(names);
  for (const name of filesOf(dist)) if (!keep.has(name)) rmSync(join(dist, name));
}

/** Adjusts source maps, whose paths are relative to a folder one level deeper. */
function liftSources(path) {
  const map = JSON.parse(readFileSync(path, 'utf8'));
  map.sources = map.sources.map((source) => source.replace('../', ''));
  writeFileSync(path, JSON.stringify(map));
}

function sourceHash() {
  const hash = createHash('sha256');
  const inputs = [
    'tsconfig.json',
    'package-lock.json',
    ...filesOf(at('packages'))
      .filter((name) => /^\w+\/(src\/|package\.json$)/.test(name))
      .map((name) => join('packages', name)),
  ];
  for (const name of inputs.sort())
    hash
      .update(`${name}\0`)
      .update(readFileSync(at(name)))
      .update('\0');
  return hash.digest('hex');
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true }).filter((name) =>
    statSync(join(folder, name), { throwIfNoEntry: false })?.isFile(),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { withLock } = await import('./lock.mjs');
  process.exitCode = await withLock(() => (build() ? 0 : 1));
}
