import { type Attack, fixture, py, refused } from '../attack.js';

/** Reading, writing and reaching around the work folder. `context` names files that every user may read or write. */
export const HOST_FILES: Attack[] = [
  refused(
    'reads host files: shadow, home, the repository, the server',
    py`
      for path in ["/etc/shadow", "/etc/gshadow", "/root/.bashrc", *context["secretFiles"]]:
          hide(path, lambda: read(path))
    `,
  ),
  refused(
    'lists host folders',
    py`
      for path in ["/root", "/var/log", "/run/systemd", *context["secretFolders"]]:
          hide(path, lambda: os.listdir(path))
    `,
  ),
  refused(
    'reads the environment and memory of other processes in /proc',
    py`
      pids = [1, os.getppid(), *neighbours(), context["runnerPid"], *context["treePids"]]
      for pid in pids:
          if pid == os.getpid():
              continue
          for name in ("environ", "mem", "maps", "cwd/secret.txt", "root/etc/shadow", "fd/0", "fd/3", "stack", "syscall"):
              hide(f"/proc/{pid}/{name}", lambda: read(f"/proc/{pid}/{name}"))
    `,
  ),
  {
    name: "looks for the server's secret in its own environment",
    code: py`
      import subprocess
      print(sorted(os.environ))
      print(os.environ)
      try:
          print(open("/proc/self/environ", errors="replace").read())
      except OSError:
          pass
      environ = ctypes.POINTER(ctypes.c_char_p).in_dll(_libc, "environ")
      index = 0
      while environ[index]:
          print(environ[index])
          index += 1
      print(subprocess.run(["/usr/bin/env"], capture_output=True, text=True).stdout)
      print("looked")
    `,
    // The runner's environment holds a canary; judge.ts refuses any outcome that shows one.
    expect: { verdict: 'ok', stdout: /looked\n$/ },
  },
  {
    name: 'looks for secrets of the server and of earlier runs in its own memory',
    code: fixture('scan_memory.py'),
    limits: { memoryMb: 400 },
    expect: { verdict: 'ok', stdout: 'scanned\n' },
  },
  refused(
    "reads and writes another run's folder",
    py`
      victim = context["victim"]
      hide("read its file", lambda: read(victim["cwd"] + "/secret.txt") if victim["cwd"] != os.getcwd() else read("secret.txt"))
      for pid in (victim["pid"], context["victimHostPid"]):
          if pid in (os.getpid(), None):
              continue
          hide(f"/proc/{pid}/cwd", lambda: read(f"/proc/{pid}/cwd/secret.txt"))
          hide(f"/proc/{pid}/cwd write", lambda: write(f"/proc/{pid}/cwd/secret.txt"))
          hide(f"/proc/{pid}/root", lambda: read(f"/proc/{pid}/root{victim['cwd']}/secret.txt"))
      if victim["cwd"] != os.getcwd():
          hide("write its file", lambda: write(victim["cwd"] + "/secret.txt"))
          hide("plant a file", lambda: write(victim["cwd"] + "/planted.py"))
      for top, folders, files in os.walk("/tmp"):
          for name in files:
              if name == "secret.txt":
                  breach(f"found {top}/{name}")
    `,
    { victim: true },
  ),
  refused(
    'writes anywhere but the work folder',
    py`
      import tempfile
      folders = ["/", "/etc", "/usr", "/usr/lib", "/usr/local/lib", "/bin", "/var/tmp", "/dev", "/run", "/root", "/home",
                 "/sys", "/proc", "/proc/self", "/opt", "/srv", "/mnt", "/lost+found", sys.prefix, sys.base_prefix,
                 os.path.dirname(os.__file__), os.path.dirname(os.__file__) + "/__pycache__",
                 *context["secretFolders"], context["bait"]]
      for folder in folders:
          hide(f"create in {folder}", lambda: write(f"{folder}/{context['mark']}"))
          hide(f"folder in {folder}", lambda: os.mkdir(f"{folder}/{context['mark']}-folder"))
      if os.path.realpath(tempfile.gettempdir()) != "/tmp":  # the host's /tmp, where the run has none of its own
          hide("create in /tmp", lambda: write(f"/tmp/{context['mark']}"))
          hide("create in /dev/shm", lambda: write(f"/dev/shm/{context['mark']}"))
    `,
  ),
  {
    name: "uses its own temporary folder, which is not the host's",
    code: py`
      import tempfile
      for folder in (".", tempfile.gettempdir(), "/tmp", "/dev/shm"):
          try:
              write(f"{folder}/{context['mark']}")
          except OSError:
              print("refused", folder)
    `,
    expect: { verdict: 'ok', stdout: '' },
    expectInLandlock: { verdict: 'ok', stdout: 'refused /tmp\nrefused /dev/shm\n' },
  },
  refused(
    'overwrites the interpreter, its modules, the libraries and host files',
    py`
      import glob
      for path in [sys.executable, os.__file__, *glob.glob("/usr/lib/*/libc.so.6"), "/etc/ld.so.cache", "/etc/ld.so.preload",
                   "/etc/passwd", context["baitFile"], *context["secretFiles"]]:
          hide(f"open {path} for writing", lambda: open(path, "r+b"))
          hide(f"append to {path}", lambda: open(path, "ab"))
          hide(f"truncate {path}", lambda: os.truncate(path, 0))
          hide(f"remove {path}", lambda: os.remove(path))
          hide(f"rename {path}", lambda: os.rename(path, path + ".moved"))
    `,
    { harmful: true },
  ),
  refused(
    'changes mode, owner, times and attributes of host files',
    // Landlock has no rule for these: something else must refuse them.
    py`
      for path in [context["baitFile"], context["bait"], context["canaryFile"], *context["secretFolders"]]:
          def state():
              seen = os.stat(path)
              try:
                  attribute = os.getxattr(path, "user.pungi")
              except OSError:
                  attribute = None
              return seen.st_mode, seen.st_uid, seen.st_gid, seen.st_mtime_ns, attribute
          def unchanged(label, action):
              # A call may also be answered with a success that changes nothing. What cannot be seen from here, the
              # runner looks at from outside.
              try:
                  before = state()
              except OSError:
                  before = None
              try:
                  action()
              except OSError:
                  pass
              if before is not None and state() != before:
                  breach(f"{label} {path}")
          def by_descriptor():
              fd = os.open(path, os.O_PATH)
              os.chmod(f"/proc/self/fd/{fd}", 0o777)
          unchanged("chmod", lambda: os.chmod(path, 0o777))
          unchanged("chown", lambda: os.chown(path, os.getuid(), os.getgid()))
          unchanged("utime", lambda: os.utime(path, (1, 1)))
          unchanged("setxattr", lambda: os.setxattr(path, "user.pungi", b"1"))
          unchanged("lchown", lambda: os.lchown(path, os.getuid(), os.getgid()))
          unchanged("chmod through O_PATH", by_descriptor)
    `,
    { harmful: true },
  ),
  refused(
    'watches what happens in host folders',
    // Landlock has no rule for this either.
    py`
      try:
          fd = syscall("inotify_init1", 0)
      except PermissionError:
          done()
          sys.exit()
      for path in [context["bait"], context["canaryFile"], "/root", "/home", *context["secretFolders"]]:
          hide(f"inotify {path}", lambda: syscall("inotify_add_watch", fd, path.encode(), 0xFFF))
    `,
  ),
  refused(
    "reads the host's tables of sockets",
    py`
      def look(name, needle):
          for path in (f"/proc/self/{name}", f"/proc/thread-self/{name}", f"/proc/{name}"):
              try:
                  text = open(path, errors="replace").read()
              except OSError:
                  continue
              if needle in text:
                  breach(f"{path} shows {needle}")
      look("net/tcp6", f":{context['tcpPort']:04X} ")
      look("net/udp6", f":{context['udpPort']:04X} ")
      look("net/unix", context["abstractName"])
      look("net/unix", context["unixPath"])
    `,
  ),
  {
    name: 'locks the folders above its own',
    // All runs of the landlock tier share a folder and a user: who may change its mode stops everybody.
    code: py`
      above = os.getcwd()
      while (above := os.path.dirname(above)) not in ("/", context["temporaryFolder"]):
          try:
              os.chmod(above, 0)
          except OSError:
              pass
      print("tried")
    `,
    harmful: true,
    // The next run, and the folder that must go away, tell whether it worked.
    expect: { verdict: 'ok', stdout: 'tried\n' },
  },
  {
    name: 'takes the names that the cleaner needs',
    code: py`
      os.makedirs("a/b/c/d")
      os.makedirs("e/f/g")
      for folder in (".", ".."):
          for number in range(0, 60):
              try:
                  os.makedirs(f"{folder}/.removing-{number}/full")
              except OSError:
                  pass
      print("taken")
    `,
    expect: { verdict: 'ok', stdout: 'taken\n' },
  },
  refused(
    'goes out by symbolic links',
    py`
      for index, path in enumerate([context["canaryFile"], "/etc/shadow", *context["secretFiles"]]):
          os.symlink(path, f"link{index}")
          hide(f"read {path}", lambda: read(f"link{index}"))
          hide(f"write {path}", lambda: open(f"link{index}", "r+b"))
      os.symlink(context["bait"], "folder")
      hide("list", lambda: os.listdir("folder"))
      hide("create", lambda: write(f"folder/{context['mark']}"))
      os.symlink("/proc/self/root", "root")
      hide("through /proc/self/root", lambda: read("root" + context["canaryFile"]))
      os.symlink("../" * 40 + context["canaryFile"][1:], "up")
      hide("through ..", lambda: read("up"))
      os.symlink("/proc/1/root" + context["canaryFile"], "init")
      hide("through /proc/1/root", lambda: read("init"))
    `,
  ),
  refused(
    'goes out by hard links and renames',
    py`
      write("mine")
      bait, mark = context["bait"], context["mark"]
      for path in [context["canaryFile"], context["baitFile"], os.__file__]:
          refuse(f"link {path} in", lambda: os.link(path, "stolen"), errno.ENOENT, errno.EXDEV)
          refuse(f"rename {path} in", lambda: os.rename(path, "moved"), errno.ENOENT, errno.EXDEV)
      refuse("link out", lambda: os.link("mine", f"{bait}/{mark}"), errno.ENOENT, errno.EXDEV)
      refuse("rename out", lambda: os.rename("mine", f"{bait}/{mark}"), errno.ENOENT, errno.EXDEV)
      refuse("symlink out", lambda: os.symlink("/etc", f"{bait}/{mark}"), errno.ENOENT)
      fd = os.open("mine", os.O_RDONLY)
      refuse("link a descriptor out", lambda: os.link(f"/proc/self/fd/{fd}", f"{bait}/{mark}", follow_symlinks=True),
             errno.ENOENT, errno.EXDEV)
      refuse("move the work folder out", lambda: os.rename(os.getcwd(), f"{bait}/{mark}"),
             errno.ENOENT, errno.EXDEV, errno.EBUSY)
    `,
    { harmful: true },
  ),
  refused(
    'climbs out through folder descriptors and file handles',
    py`
      import stat
      for fd in range(3, 4096):
          try:
              mode = os.fstat(fd).st_mode
          except OSError:
              continue
          if stat.S_ISDIR(mode):
              breach(f"inherited a folder descriptor: {fd}")
              hide("climb", lambda: os.open(".." + context["canaryFile"], os.O_RDONLY, dir_fd=fd))
          if stat.S_ISREG(mode):
              breach(f"inherited a file descriptor: {fd}")
      path = context["canaryFile"].encode()
      handle = ctypes.create_string_buffer(136)
      ctypes.memmove(handle, (128).to_bytes(4, sys.byteorder), 4)
      mount_id = ctypes.c_int()
      try:
          syscall("name_to_handle_at", -100, path, handle, ctypes.byref(mount_id), 0)
      except OSError:
          pass
      root = os.open("/", os.O_RDONLY | os.O_DIRECTORY) if context["tier"] == "namespace" else 0
      hide("open_by_handle_at", lambda: syscall("open_by_handle_at", root, handle, 0))
    `,
  ),
  refused(
    'opens devices',
    py`
      for path in ["/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/kvm", "/dev/fuse", "/dev/vda", "/dev/sda",
                   "/dev/tty",
                   "/dev/tty0", "/dev/console", "/dev/net/tun", "/dev/loop-control", "/dev/userfaultfd",
                   "/dev/vhost-vsock", "/dev/cpu/0/msr", "/dev/rtc0", "/dev/watchdog"]:
          for mode in (os.O_RDONLY, os.O_RDWR):
              hide(path, lambda: os.open(path, mode))
    `,
  ),
  {
    name: 'leaves a work folder that is hard to remove',
    code: fixture('stubborn_folder.py'),
    expect: { verdict: 'ok', stdout: 'left behind\n' },
    // Without a file system of its own, what lies deeper than anybody can look counts as too much.
    expectInLandlock: { verdict: ['ok', 'disk-exceeded'] },
  },
  {
    name: 'leaves symbolic links for the cleaner to follow',
    code: py`
      os.symlink(context["bait"], "bait")
      os.mkdir("sub")
      os.symlink(context["bait"], "sub/bait")
      os.symlink(context["baitFile"], "sub/file")
      os.symlink("/", "sub/root")
      os.symlink(".", "sub/loop")
      print("left")
    `,
    expect: { verdict: 'ok', stdout: 'left\n' },
  },
  {
    name: 'puts a link to the host in the place of its work folder',
    code: py`
      here = os.getcwd()
      os.chdir("/")
      try:
          os.rename(here, here + "-moved")
          os.symlink(context["bait"], here)
      except OSError:
          pass
      print("tried")
    `,
    // In its own box it may; the cleaner must not follow, which the bait's state tells.
    expect: { verdict: 'ok', stdout: 'tried\n' },
  },
];
