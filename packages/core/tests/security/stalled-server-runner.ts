/** A server that runs one request and prints what came of it; the test stops it in between. */
import { Config } from '../../src/config/schema.js';
import type { RunRequest } from '../../src/contract/run.js';
import { Pungi } from '../../src/pungi.js';

const { tier, python, request } = JSON.parse(process.argv[2]!) as {
  tier: 'namespace' | 'landlock';
  python: string;
  request: RunRequest;
};
const pungi = Pungi.start(Config.parse({ python, tier, poolSize: 1, audit: false }));
let isFirst = true;
const outcome = await pungi.run(request, {
  onLine: () => {
    if (isFirst) process.stdout.write('going\n');
    isFirst = false;
  },
});
process.stdout.write(`${JSON.stringify(outcome)}\n`);
await pungi.close();
