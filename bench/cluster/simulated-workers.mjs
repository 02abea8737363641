// A process with many workers of a cluster: the real protocol, and a stand-in for the machine that answers from recorded runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startWorker } from '../../dist/cluster/src/index.js';
import { machineEnvironments } from '../../dist/core/src/index.js';
import { loadConfig, silentLogger } from '../../dist/pungi/src/index.js';

/** Answers what was recorded, one run after the other, each in the time that it took. */
class RecordedBackend {
  keepsWorkers = false;
  environments = [];
  #next = 0;

  constructor({ state, about, runs }) {
    this.state = state;
    this.aboutWorker = about;
    this.runs = runs;
  }

  async start() {
    return this.state;
  }

  async acquire() {
    return { about: this.aboutWorker, isKept: false, release() {}, run: (...given) => this.#run(...given) };
  }

  async #run(_job, _id, sink) {
    const { ms, output, end } = this.runs[this.#next++ % this.runs.length];
    await pause(ms);
    for (const [stream, text] of output) await sink(stream, Buffer.from(text, 'base64'));
    return end;
  }

  warm() {}
  about() {}
  figures() {}
  async retire() {}
  async close() {}
}

process.once('message', async ({ address, creds, first, count, slots, recording, folder }) => {
  const recorded = JSON.parse(readFileSync(recording, 'utf8'));
  const config = loadConfig({ env: { LOG_LEVEL: 'error', PUNGI_PYTHON: recorded.state.interpreter.path } });
  for (let index = first; index < first + count; index += 1) {
    const name = `simulated-${index}`;
    const backend = new RecordedBackend(recorded);
    const environments = machineEnvironments(config, join(folder, name), backend, silentLogger);
    const trail = join(folder, `${name}.jsonl`);
    const worker = { name, labels: {}, slots, trail, diskMb: 1000 };
    await startWorker({ address, creds, worker, backend, environments, logger: silentLogger });
  }
  process.send('ready');
});
process.once('disconnect', () => process.exit());
