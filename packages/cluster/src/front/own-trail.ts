import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openTrailForReading, type TrailReader } from '@pungi/core/audit';
import type { Verifier } from '../protocol/signing.js';
import type { LinkParts } from './link.js';

export interface AuditParts extends LinkParts {
  /** Knows the operators, who may read the trail. */
  verifier: Verifier;
  /** The name of the front end. */
  name: string;
}

/** Reads the audit trail that the front end writes, also after its folder was replaced by another. */
export class OwnTrail {
  #inode: number | undefined;
  #reader: Promise<TrailReader> | undefined;

  constructor(private readonly folder: string) {}

  /** Throws AUDIT_UNAVAILABLE and AUDIT_DAMAGED. */
  async open(): Promise<TrailReader> {
    const inode = statSync(join(this.folder, 'audit.db'), { throwIfNoEntry: false })?.ino;
    if (this.#reader === undefined || this.#inode !== inode) {
      await this.close();
      this.#inode = inode;
      this.#reader ??= openTrailForReading(this.folder);
      this.#reader.catch(() => {
        this.#reader = undefined;
      });
    }
    return this.#reader;
  }

  async close(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    (await reader?.catch(() => undefined))?.close();
  }
}
