import type { ProfileDefinition } from '../../contract/profile.js';

/** The origin of profiles without a file. */
export const BUILT_IN = 'built-in';

/** The profile that every persona extends. */
export const STRATEGIC = 'strategic';

/** The capabilities of strategic analysis. */
export const CAPABILITIES = [
  'strategic_data_analysis',
  'roi_calculations',
  'stakeholder_analytics',
  'performance_metrics',
  'executive_reporting',
] as const;

const persona = (
  name: string,
  role: string,
  focus: string,
  ...more: string[]
): [string, ProfileDefinition] => [
  name,
  {
    description: role,
    extends: STRATEGIC,
    focus,
    defaultImports: ['pandas', 'numpy', 'pandas as pd', 'numpy as np', ...more],
    templateVars: { persona: name, role },
  },
];

export const BUILT_IN_PROFILES: ReadonlyMap<string, ProfileDefinition> = new Map<string, ProfileDefinition>([
  ['default', { description: 'No rules beyond the sandbox and its limits' }],
  [
    STRATEGIC,
    {
      description: 'Strategic analysis with pandas and numpy, reports and charts, and nothing else',
      // Besides pandas: libraries for Parquet and Excel, tables, styled reports and charts.
      packages: ['numpy', 'pandas', 'pyarrow', 'openpyxl', 'tabulate', 'jinja2', 'matplotlib'],
      // Importing pyplot starts another program to find fonts, which the rules below deny to a run.
      preload: ['numpy', 'pandas', 'matplotlib.pyplot'],
      limits: { timeoutMs: 30_000, cpuMs: 30_000, memoryMb: 512 },
      allowedImports: [
        'pandas',
        'numpy',
        'json',
        'datetime',
        'math',
        'statistics',
        'collections',
        'tabulate',
        'jinja2',
        'matplotlib',
      ],
      blockedImports: ['os', 'sys', 'subprocess', 'socket', 'urllib', 'requests', 'shutil'],
      blockedBuiltins: ['open', 'exec', 'eval', 'compile', '__import__', 'globals', 'locals', 'breakpoint'],
      blockedOperations: ['file', 'process', 'network', 'introspection'],
      scopeMessage: 'Code outside strategic scope. Only strategic analysis allowed.',
      contextVariable: 'strategic_context',
      cacheTtl: 1800,
      disclosure: true,
    },
  ],
  persona('diego', 'Engineering Leadership', 'leadership_metrics'),
  persona('alvaro', 'Business Strategy', 'business_intelligence', 'statistics'),
  persona('martin', 'Platform Architecture', 'architecture_analysis', 'json'),
  persona('camille', 'Strategic Technology', 'strategic_technology', 'statistics'),
  persona('rachel', 'Design Systems Strategy', 'design_analytics'),
]);
