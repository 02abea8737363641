/** The version of uv that Pungi fetches if there is no other. */
export const OWN_UV_VERSION = '0.13.7';

/** A wheel of uv and its hash. */
export interface UvWheel {
  filename: string;
  sha256: string;
}

const wheel = (tags: string, sha256: string): UvWheel => ({
  filename: `uv-${OWN_UV_VERSION}-py3-none-${tags}.whl`,
  sha256,
});
const LINUX_ARM64 = wheel(
  'manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64',
  'a90f5d95716ab83091f0f73a8e7ec64e557abf2a28537fcd719b2ac88e6f725a',
);
/** The hashes are part of Pungi: a uv from any index or mirror is used only if it is the published one. */
const WHEELS: Readonly<Record<string, UvWheel>> = {
  'linux-x64': wheel(
    'manylinux_2_17_x86_64.manylinux2014_x86_64',
    '2c9bdc4a872b60a93c5f26c0791089ea11585a4f9d3b3c017d78eb8487505e25',
  ),
  'linux-x64-musl': wheel(
    'musllinux_1_1_x86_64',
    '8b8ac028ae4ebb2a3f9d04907c61794f2cf8d7a7002bfbb4019a3dee28351fb2',
  ),
  'linux-arm64': LINUX_ARM64,
  'linux-arm64-musl': LINUX_ARM64,
  'darwin-x64': wheel(
    'macosx_10_12_x86_64',
    'fd04bf01ba5f2829f4f94ca8f0c24a743f21e73d75045613ed6fc2fd66fc7bda',
  ),
  'darwin-arm64': wheel(
    'macosx_11_0_arm64',
    'f91a229093163eefca89ea1b220a221d64c3beade05d03519a6584d1797a5a5f',
  ),
};

/** The wheel of uv for this machine, if there is one. */
export function wheelForMachine(): UvWheel | undefined {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const isMusl = process.platform === 'linux' && header.glibcVersionRuntime === undefined;
  return WHEELS[`${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`];
}
