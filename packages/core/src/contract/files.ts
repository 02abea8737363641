/** A file, a folder (its name ends with "/"), or something else (`kind`). Unprintable characters of names are escaped. */
export interface ListedEntry {
  name: string;
  size?: number | undefined;
  /** A link that leads nowhere, a file that runs cannot read, or a pipe, socket or device. */
  kind?: 'link' | 'unreadable' | 'special' | undefined;
}

/** A part of a folder's entries, by name. */
export interface FolderList {
  path: string;
  entries: ListedEntry[];
  total: number;
  /** Set if the folder has more entries than are looked at. */
  isCut?: boolean;
  /** Where the rest begins. */
  nextOffset?: number;
}

/** What a caller's runs can read, and what they have left. */
export interface FilesOverview {
  /** Folders with data. */
  folders: string[];
  uploads: { upload: string; size: number }[];
  /** The newest first. */
  runs: { run: string; files: { path: string; size: number }[] }[];
}
