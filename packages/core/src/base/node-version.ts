/** The oldest supported Node, the same as "engines" in package.json. */
export const OLDEST_NODE = '20.3.0';

const partsOf = (version: string) => version.split('.').map(Number) as [number, number, number];

export function isNodeSupported(version = process.versions.node): boolean {
  const [[major, minor], [oldestMajor, oldestMinor]] = [partsOf(version), partsOf(OLDEST_NODE)];
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

export const tooOld = (version = process.versions.node) =>
  `Pungi needs Node ${OLDEST_NODE.replace(/\.0$/, '')} or newer, got ${version}: install one from nodejs.org.`;

/** Node before 20.4 lacks this symbol. TypeScript and other tools define the same one. */
(Symbol as { asyncDispose?: symbol }).asyncDispose ??= Symbol.for('Symbol.asyncDispose');
