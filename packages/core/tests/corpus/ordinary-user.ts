/** Root may do more than plain Python usually can, so plain Python runs as nobody then. */
const NOBODY = 65_534;

/** Options of a process that plain Python runs in; undefined where the tests already run as an ordinary user. */
export const ORDINARY_USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
