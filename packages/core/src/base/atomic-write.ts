import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';

interface AtomicWriteOptions {
  /** The file's mode, whatever the umask; that of any new file unless it is given. */
  mode?: number;
  /** Makes the content outlast a power loss; its name does after `syncFolder`. */
  isDurable?: boolean;
  /** Throws EEXIST instead of replacing a file. */
  isNew?: boolean;
}

/** The file has its old or its new content at every instant, and is never written through a link that has its name. */
export function writeAtomically(
  path: string,
  content: string | Uint8Array,
  { mode, isDurable = false, isNew = false }: AtomicWriteOptions = {},
): void {
  const draft = draftOf(path);
  try {
    const file = openSync(draft, 'wx', mode === undefined ? 0o666 : 0o600);
    try {
      if (mode !== undefined) fchmodSync(file, mode);
      writeFileSync(file, content);
      if (isDurable) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    settleDraft(draft, path, isNew);
  } finally {
    discardDraft(draft);
  }
}

/** The path of the draft. It ends in ".tmp", so that programs that watch the folder ignore it. */
export const draftOf = (path: string): string => `${path}.${randomUUID()}.tmp`;

/** Puts a whole draft in its place. A link, unlike a rename, does not replace what somebody else has put there meanwhile. */
export function settleDraft(draft: string, path: string, isNew: boolean): void {
  if (isNew) linkSync(draft, path);
  else renameSync(draft, path);
}

/** Removes what is left of a draft, if anything. */
export function discardDraft(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // It cannot even be looked for; what went wrong before is reported.
  }
}

/** Makes new names in the folder outlast a power loss. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
