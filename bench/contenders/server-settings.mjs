// A workload as variables of a Pungi server, the same for the library and for a server process.
export const serverSettings = ({ python, tier, preload, env = {} }) => ({
  PUNGI_PYTHON: python,
  PUNGI_TIER: tier,
  ALLOW_UNSANDBOXED: String(tier === 'process'),
  PRELOAD_MODULES: preload.join(','),
  LOG_LEVEL: 'error',
  ...env,
});
