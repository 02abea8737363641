import { expect, test } from 'vitest';
import type { Pungi } from '../../core/src/pungi.js';
import { TestCluster } from './cluster.js';

// The NATS server is killed and does not come back: whoever asks for background runs or environments is told so.

test('what NATS does not answer ends with SERVER_BUSY, not with an error inside Pungi', async () => {
  const cluster = await TestCluster.start();
  try {
    await cluster.worker();
    const pungi: Pungi = await cluster.front();
    const { run } = await pungi.runInBackground({ code: '1' });
    await pungi.getRun(run, { waitMs: 5000 });
    await cluster.nats.kill();
    const large = `x = "${'y'.repeat(100_000)}"`;
    const asked: Promise<unknown>[] = [
      pungi.runInBackground({ code: '1' }),
      pungi.runInBackground({ code: large }),
      pungi.runInBackground({ code: '1', session: 'new' }),
      pungi.getRun(run),
      pungi.cancelRun(run),
      pungi.listRuns(),
      pungi.environments.create({ venvName: 'ml' }),
      pungi.environments.clone({ from: 'default', to: 'ml' }),
    ];
    const told = await Promise.all(
      asked.map((one) => one.then(String, ({ code, message }) => `${code} ${message}`)),
    );
    for (const answer of told) expect(answer).toMatch(/^(SERVER_BUSY|ENVIRONMENT_NOT_FOUND) /);
    const { verdict } = await pungi.run({
      code: '1',
      stdin: 'x'.repeat(700_000),
      limits: { timeoutMs: 1000 },
    });
    expect(['busy', 'lost']).toContain(verdict.kind);
  } finally {
    await cluster.stop();
  }
});
