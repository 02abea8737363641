/** For a process with an environment of its own: its data stays with the tests, not with the person who runs them. */
export function ownFolders(): Record<string, string> {
  const { XDG_STATE_HOME = '', XDG_CACHE_HOME = '', PUNGI_DATA_DIR = '' } = process.env;
  return { XDG_STATE_HOME, XDG_CACHE_HOME, PUNGI_DATA_DIR };
}
