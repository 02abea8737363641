# As on Ubuntu 24.04 for a program without a profile of its own: everything but user namespaces.
abi <abi/4.0>,

profile deny-userns flags=(attach_disconnected) {
  file,
  network,
  capability,
  mount,
  umount,
  pivot_root,
  signal,
  ptrace,
  unix,
}
