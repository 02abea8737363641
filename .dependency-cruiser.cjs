/**
 * The import directions of the source tree: a layer imports only layers below it. Folders on one line are
 * siblings and do not import each other. A new folder below src must be placed here, or the check fails.
 */
const LAYERS = [
  ['main', 'index'],
  ['cli'],
  ['mcp', 'web'],
  ['pungi'],
  ['environments', 'sessions', 'wrap', 'harness'],
  ['gate'],
  ['engine'],
  ['runtime'],
  ['sandbox'],
  ['audit', 'metrics'],
  ['config'],
  ['contract'],
  ['base'],
];

/** A name stands for a folder below src, or for the single file of that name. */
const at = (names) => `^src/(${names.join('|')})(/|\\.ts$)`;

const upward = LAYERS.slice(1).map((layer, index) => ({
  name: `${layer.join('-')}-imports-only-below`,
  severity: 'error',
  from: { path: at(layer) },
  to: { path: at(LAYERS.slice(0, index + 1).flat()) },
}));

const siblings = LAYERS.filter((layer) => layer.length > 1).flatMap((layer) =>
  layer.map((name) => ({
    name: `${name}-does-not-import-siblings`,
    severity: 'error',
    from: { path: at([name]) },
    to: { path: at(layer.filter((other) => other !== name)) },
  })),
);

module.exports = {
  forbidden: [
    ...upward,
    ...siblings,
    {
      name: 'every-module-has-a-layer',
      severity: 'error',
      from: { path: '^src/', pathNot: at(LAYERS.flat()) },
      to: {},
    },
    {
      name: 'source-imports-only-source',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(tests|bench|scripts|examples|dashboard|dist)/' },
    },
    {
      name: 'only-runtime-and-sandbox-spawn-processes',
      severity: 'error',
      from: { path: '^src/', pathNot: at(['runtime', 'sandbox']) },
      to: { path: '^(node:)?child_process$' },
    },
    { name: 'no-circles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    { name: 'imports-resolve', severity: 'error', from: { path: '^src/' }, to: { couldNotResolve: true } },
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
