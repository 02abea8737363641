/**
 * The import directions. A package imports only the packages named here, and only what their `exports` offer. Within core, a layer
 * imports only layers below it; folders on one line do not import each other. A new package or folder of core must
 * be placed here, or the check fails.
 */
const PACKAGES = {
  core: [],
  wrap: ['core'],
  harness: ['core'],
  server: ['core', 'wrap'],
  cluster: ['core'],
  cli: ['core', 'wrap', 'harness', 'server', 'cluster'],
  pungi: ['core', 'harness'],
};

const LAYERS = [
  ['index', 'processes'],
  ['pungi', 'runs', 'background', 'checkpoints'],
  ['uploads'],
  ['environments', 'sessions', 'artifacts'],
  ['gate'],
  ['engine'],
  ['network'],
  ['runtime'],
  ['sandbox'],
  ['audit', 'metrics'],
  ['config'],
  ['contract'],
  ['base'],
];

const inPackages = (names) => `^packages/(${names.join('|')})/src/`;
/** A name stands for a folder of core, or for the single file of that name. */
const inCore = (names) => `^packages/core/src/(${names.join('|')})(/|\\.ts$)`;
/** The modules that `exports` of the packages name. A test compares. */
const SURFACES = [
  '^packages/\\w+/src/index\\.ts$',
  '^packages/core/src/([\\w-]+/index|processes|base/node-version|sandbox/head-start)\\.ts$',
];

const directions = Object.entries(PACKAGES).map(([name, allowed]) => ({
  name: `${name}-imports-only-its-packages`,
  severity: 'error',
  from: { path: inPackages([name]) },
  to: { path: '^packages/', pathNot: inPackages([name, ...allowed]) },
}));

const upward = LAYERS.slice(1).map((layer, index) => ({
  name: `${layer.join('-')}-imports-only-below`,
  severity: 'error',
  from: { path: inCore(layer), pathNot: '/index\\.ts$' },
  to: { path: inCore(LAYERS.slice(0, index + 1).flat()) },
}));

const siblings = LAYERS.slice(2)
  .filter((layer) => layer.length > 1)
  .flatMap((layer) =>
    layer.map((name) => ({
      name: `${name}-does-not-import-siblings`,
      severity: 'error',
      from: { path: inCore([name]) },
      to: { path: inCore(layer.filter((other) => other !== name)) },
    })),
  );

module.exports = {
  forbidden: [
    ...directions,
    ...upward,
    ...siblings,
    {
      name: 'packages-import-what-others-export',
      severity: 'error',
      from: { path: '^packages/(\\w+)/src/' },
      to: { path: '^packages/', pathNot: ['^packages/$1/', ...SURFACES] },
    },
    {
      name: 'no-package-imports-its-own-surface',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: '/index\\.ts$' },
      to: { path: '^packages/core/src/(index|processes|[\\w-]+/index)\\.ts$' },
    },
    {
      name: 'every-package-has-a-place',
      severity: 'error',
      from: { path: '^packages/', pathNot: inPackages(Object.keys(PACKAGES)) },
      to: {},
    },
    {
      name: 'every-module-of-core-has-a-layer',
      severity: 'error',
      from: { path: inPackages(['core']), pathNot: inCore(LAYERS.flat()) },
      to: {},
    },
    {
      name: 'source-imports-only-source',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: ['^packages/\\w+/(tests|python)/', '^(tests|bench|scripts|examples|dist)/'] },
    },
    {
      name: 'only-runtime-and-sandbox-spawn-processes',
      severity: 'error',
      from: { path: '^packages/', pathNot: inCore(['runtime', 'sandbox']) },
      to: { path: '^(node:)?child_process$' },
    },
    { name: 'no-circles', severity: 'error', from: { path: '^packages/' }, to: { circular: true } },
    {
      name: 'imports-resolve',
      severity: 'error',
      from: { path: '^packages/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // TypeScript 7 has no classic compiler API; without swc nothing is parsed and everything passes.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
