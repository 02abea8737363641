// A workload as variables of a Pungi server, the same for the library and for a server process.
import { join } from 'node:path';
import { makeFolder } from '../folder.mjs';

export const serverSettings = ({ python, tier, preload, env = {} }) => ({
  PUNGI_PYTHON: python,
  PUNGI_TIER: tier,
  ALLOW_UNSANDBOXED: String(tier === 'process'),
  // The packages under test belong to the interpreter itself.
  SYSTEM_PACKAGES: 'true',
  PRELOAD_MODULES: preload.join(','),
  LOG_LEVEL: 'error',
  // Runs are recorded, as by default, but not in the user's audit trail.
  AUDIT_DIR: join(makeFolder('audit'), 'trail'),
  // A caller that runs beside other servers of the same user names another folder.
  ...(process.env.VENVS_BASE_PATH && { VENVS_BASE_PATH: process.env.VENVS_BASE_PATH }),
  ...env,
});
