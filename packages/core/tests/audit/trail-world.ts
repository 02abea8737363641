import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SpeakingProcess } from '../../../../tests/support/speaking-process.js';
import { AuditTrail } from '../../src/audit/audit-trail.js';
import { Database } from '../../src/audit/database.js';
import { AuditRecorder } from '../../src/audit/recorder.js';
import { openTrailForReading } from '../../src/audit/trail-reader.js';
import { type Logger, silentLogger } from '../../src/base/logger.js';
import type { AuditEntry, AuditSettings } from '../../src/contract/audit.js';

/** A folder with a trail in it, the trails and processes that use it, all of which end with it. */
export class TrailWorld {
  readonly #parent = mkdtempSync(join(tmpdir(), 'pungi-audit-'));
  readonly folder = join(this.#parent, 'audit');
  readonly database = join(this.folder, 'audit.db');
  #trails: AuditTrail[] = [];
  #recorders: AuditRecorder[] = [];
  #children: ChildProcess[] = [];

  async open(settings: Partial<AuditSettings> = {}): Promise<AuditTrail> {
    const whole = { folder: this.folder, sync: 'normal' as const, storeCode: true, retentionDays: null };
    const trail = await AuditTrail.open({ ...whole, ...settings }, silentLogger);
    this.#trails.push(trail);
    return trail;
  }

  /** The recorder that a Pungi would have. */
  record(settings: Partial<AuditSettings> = {}, logger: Logger = silentLogger): AuditRecorder {
    const whole = { folder: this.folder, sync: 'normal' as const, storeCode: true, retentionDays: null };
    const recorder = new AuditRecorder({ ...whole, ...settings }, logger);
    this.#recorders.push(recorder);
    return recorder;
  }

  /** What another process finds in the trail at this moment, the oldest first. */
  async entries(): Promise<AuditEntry[]> {
    const reader = await openTrailForReading(this.folder);
    try {
      return reader.list({ limit: 1000 }).reverse();
    } finally {
      reader.close();
    }
  }

  async newest(): Promise<AuditEntry> {
    return (await this.entries()).at(-1)!;
  }

  /** What somebody with the file and an SQLite of their own can do. */
  async tamper(change: (database: Database) => void): Promise<void> {
    const database = await Database.connect(this.database, 'write');
    try {
      change(database);
    } finally {
      database.close();
    }
  }

  /** A fixture as a process, through a shell command in front of it where one is given. */
  start(fixture: string, words: string[] = [], shell = ''): Writing {
    const script = fileURLToPath(new URL(`./fixtures/${fixture}.ts`, import.meta.url));
    const command = `${shell} exec "$0" "$@"`;
    const argv = ['-c', command, process.execPath, '--import', 'tsx', script, this.folder, ...words];
    const child = spawn('/bin/sh', argv, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#children.push(child);
    return new Writing(child);
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all([...this.#trails, ...this.#recorders].map((one) => one.close().catch(() => {})));
    rmSync(this.#parent, { recursive: true, force: true });
  }
}

/** A process that says a line for each entry that was acknowledged. */
export class Writing extends SpeakingProcess {
  /** Whole lines only: the kill may have come in the middle of one. */
  lines(): string[] {
    return this.said.split('\n').slice(0, -1);
  }
}
