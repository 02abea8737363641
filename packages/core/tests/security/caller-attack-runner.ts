/** Makes the attacks of callers as the user that it is started as, and prints the problems of each. */
import { join } from 'node:path';
import { Config } from '../../src/config/schema.js';
import { Pungi } from '../../src/pungi.js';
import type { CallerRun } from './caller-attack.js';
import {
  ARTIFACT_TOTAL_MB,
  CALLER_ATTACKS,
  MAX_BACKGROUND_PER_CALLER,
  MAX_SESSIONS_PER_CALLER,
} from './caller-attacks.js';
import { exitWhenRead } from './exit.js';

const run = JSON.parse(process.argv[2]!) as CallerRun;
const { tier, python, folder } = run;
const pungi = Pungi.start(
  Config.parse({
    python,
    tier,
    poolSize: 2,
    audit: false,
    artifactDir: join(folder, 'artifacts'),
    artifactTotalMb: ARTIFACT_TOTAL_MB,
    maxSessionsPerCaller: MAX_SESSIONS_PER_CALLER,
    maxBackgroundPerCaller: MAX_BACKGROUND_PER_CALLER,
  }),
);
const write = process.stdout.write.bind(process.stdout);
for (const { name, attack } of CALLER_ATTACKS) {
  const problems = await attack({ ...run, pungi }).catch((error: Error) => [`it failed: ${error.stack}`]);
  write(`${JSON.stringify({ name, problems })}\n`);
}
await pungi.close();
exitWhenRead();
