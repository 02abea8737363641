/** The protocol of this version. It grows when older versions could not follow. */
export const PROTOCOL = 1;

/** One step is compatible: a cluster can be updated one machine after the other. */
export const isCompatible = (other: number, own = PROTOCOL): boolean => Math.abs(other - own) <= 1;

export const incompatible = (other: number, own = PROTOCOL): string =>
  `This worker speaks version ${own} of the cluster protocol, and the front end version ${other}: update one of them.`;
