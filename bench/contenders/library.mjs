// Pungi, called from the same process.
import { loadConfig, Pungi } from '../../dist/pungi/src/index.js';
import { serverSettings } from './server-settings.mjs';

export const library = {
  id: 'library',
  name: 'Pungi, library',
  async open(workload) {
    const { code } = workload;
    const pungi = await startPungi(serverSettings(workload));
    return {
      async run() {
        const { verdict, stdout } = await pungi.run({ code });
        if (verdict.kind !== 'ok') throw new Error(`the run ended as ${verdict.kind}: ${verdict.message}`);
        return stdout.text;
      },
      close: () => pungi.close(),
    };
  },
};

/** Starts Pungi and waits until its workers are parked, as in a server a moment after its start. */
export async function startPungi(settings) {
  const pungi = Pungi.start(loadConfig({ env: settings }));
  await pungi.ready();
  while ((await pungi.health()).pool.parked < pungi.config.poolSize) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return pungi;
}
