import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { descendantsOf, isAlive } from '../../../../tests/support/processes.js';
import { randomNumbers } from '../../../../tests/support/random-numbers.js';
import { SpeakingProcess } from '../../../../tests/support/speaking-process.js';
import { until } from '../../../../tests/support/until.js';
import { withPungi } from '../engine/pungi.js';

const SERVING = fileURLToPath(new URL('./fixtures/serving.ts', import.meta.url));
const ANN = { client: 'ann' };

export interface Tally {
  handles: number;
  available: number;
  lost: number;
  artifacts: number;
}

/**
 * Starts a server again and again on the same folders, kills it at a random point, and lets the next one answer for every
 * handle that was acknowledged.
 */
export async function killInBackground(folder: string, points: number, seed: number): Promise<Tally> {
  const random = randomNumbers(seed);
  const tally: Tally = { handles: 0, available: 0, lost: 0, artifacts: 0 };
  for (let point = 0; point < points; point += 1) {
    const said = await serveUntilKilled(folder, `${seed}-${point}`, random);
    await expectAllAnswered(folder, said, tally);
  }
  return tally;
}

/** Returns what the server had said when it was killed, whole lines only. */
async function serveUntilKilled(folder: string, name: string, random: () => number): Promise<string[]> {
  const argv = ['--import', 'tsx', SERVING, folder, name];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  const server = new SpeakingProcess(child);
  // After a random number of words, and a random time that hits whatever comes between two of them.
  const words = 1 + Math.floor(random() * 40);
  const moreMs = random() * 60;
  while (server.said.split('\n').length <= words) await once(child.stdout!, 'data');
  await new Promise((resolve) => setTimeout(resolve, moreMs));
  const below = descendantsOf(child.pid!);
  child.kill('SIGKILL');
  await server.exited;
  await until(() => !below.some(isAlive), 'no process of the killed server remains');
  return server.said.split('\n').slice(0, -1);
}

async function expectAllAnswered(folder: string, said: string[], tally: Tally): Promise<void> {
  const lines = said.map((line) => line.split(' '));
  const of = (word: string) => lines.filter(([first]) => first === word);
  const began = new Set(of('begun').map(([, run]) => run));
  const ended = new Map(of('ended').map(([, run, runId, kind]) => [run, { runId, kind }]));
  const settings = { BACKGROUND_DIR: `${folder}/runs`, ARTIFACT_DIR: `${folder}/artifacts` };
  await withPungi(settings, async (pungi) => {
    const listed = new Set((await pungi.listRuns(ANN)).map(({ run }) => run));
    for (const [, run, word] of of('got')) {
      const { state, outcome } = await pungi.getRun(run!, { caller: ANN });
      expect(state).toBe('ended');
      expect(listed).toContain(run);
      const { verdict, runId, artifacts = [] } = outcome!;
      const known = ended.get(run);
      if (known) expect({ runId, kind: verdict.kind }).toEqual(known);
      if (verdict.kind === 'lost' && began.has(run)) expect(verdict.started).toBe(true);
      for (const { path } of artifacts) {
        const { content } = await pungi.readArtifact({ run: runId, path }, ANN);
        expect(content.toString()).toContain(word);
      }
      tally.handles += 1;
      tally[verdict.kind === 'lost' ? 'lost' : 'available'] += 1;
      tally.artifacts += artifacts.length;
    }
  });
}
