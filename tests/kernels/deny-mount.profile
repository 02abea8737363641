# As docker-default: everything but mounts.
abi <abi/3.0>,

profile deny-mount flags=(attach_disconnected) {
  file,
  network,
  capability,
  signal,
  ptrace,
  unix,
  dbus,
  deny mount,
  deny umount,
  deny pivot_root,
}
