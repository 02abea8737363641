import { type Attack, bomb, py, refused } from '../attack.js';

/** Where names of semaphores and shared memory are kept: in the landlock tier, in a folder beside the run's others. */
const FOLDER = py`
  import _multiprocessing, _posixshmem, tempfile
  from multiprocessing import shared_memory
  is_landlock = context["tier"] == "landlock"
  folder = os.path.dirname(tempfile.gettempdir()) + "/pungi-shm" if is_landlock else "/dev/shm"
  def named(number, unlink=False): return _multiprocessing.SemLock(1, 1, 1, f"/bomb-{number}", unlink)
`;

const diskExceeded = { verdict: 'disk-exceeded', details: { limitMb: 8 } } as const;

/** Named semaphores and shared memory are the run's own: they lead to no other file, and count as disk. */
export const SHARED_NAMES: Attack[] = [
  refused(
    'names of shared memory and semaphores that lead out of their folder',
    `${FOLDER}\n${py`
      up = "../" * 12
      targets = [up + context["baitFile"], up + "etc/passwd", f"{up}tmp/{context['mark']}", "..", ".", ""]
      invalid = (errno.EINVAL, errno.ENOENT, errno.EISDIR, errno.ELOOP, errno.EEXIST)
      for target in targets:
          for name in (target, f"/{target}", f"//{target}"):
              for flags in (os.O_RDONLY, os.O_RDWR | os.O_CREAT):
                  if flags or target not in (".", ".."):  # its own folder may be looked at
                      refuse(f"memory {name}", lambda: _posixshmem.shm_open(name, flags, mode=0o600), *invalid)
              refuse(f"unlink memory {name}", lambda: _posixshmem.shm_unlink(name), *invalid)
              if target not in (".", ".."):  # "sem..." is a name like any other
                  refuse(f"semaphore {name}", lambda: _multiprocessing.SemLock(1, 1, 1, name, False), *invalid)
                  refuse(f"unlink semaphore {name}", lambda: _multiprocessing.sem_unlink(name), *invalid)
    `}`,
  ),
  refused(
    'links of its own making in the place of shared memory',
    `${FOLDER}\n${py`
      for number, target in enumerate((context["baitFile"], "/etc/passwd", f"/tmp/{context['mark']}", f"/dev/shm/../../etc/{context['mark']}")):
          os.symlink(target, f"{folder}/planted-{number}")
          for flags in (os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREAT):
              refuse(f"follow {target}", lambda: _posixshmem.shm_open(f"/planted-{number}", flags, mode=0o600), errno.ELOOP, errno.ENOENT)
    `}`,
  ),
  refused(
    'the names of another run, also in an interpreter that is told its folder',
    `${FOLDER}\n${py`
      import subprocess
      other = os.path.dirname(context["victim"]["cwd"])
      if is_landlock:
          hide("list", lambda: os.listdir(f"{other}/pungi-shm"))
          hide("create", lambda: write(f"{other}/pungi-shm/planted"))
          hide("semaphores", lambda: os.open(f"{other}/pungi-shm/.semaphores", os.O_RDWR | os.O_CREAT))
          hide("exchange", lambda: os.rename(folder, f"{other}/pungi-shm"))
      code = "from multiprocessing import Lock, shared_memory as s\nm = s.SharedMemory('planted', True, 10)\nm.unlink()\nLock()"
      for variables in ({"TMPDIR": f"{other}/tmp"}, {"HOME": f"{other}/work"}) if is_landlock else ():
          ended = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True)
          if "Permission denied" not in ended.stderr: breach(f"{variables}: {ended}")
    `}`,
    { victim: true },
  ),
  refused(
    'the copy that interpreters of the environment load',
    `${FOLDER}\n${py`
      import site
      for place in site.getsitepackages():
          for name in ("_pungi_shm.py", "_pungi_shm.pth", "planted.pth"):
              hide(f"write {name}", lambda: write(f"{place}/{name}"))
              hide(f"remove {name}", lambda: os.unlink(f"{place}/{name}"))
    `}`,
  ),
  bomb({
    name: 'disk: names of semaphores',
    code: `${FOLDER}\nfor number in range(100_000): named(number)\nprint("BREACH")`,
    limits: { diskMb: 8 },
    expect: { verdict: ['disk-exceeded', 'python-error'] },
    expectInLandlock: { verdict: 'disk-exceeded' },
  }),
  bomb({
    name: 'disk: semaphores without a name',
    code: `${FOLDER}\nkept = [named(number, unlink=True) for number in range(1_000_000)]\nprint("BREACH")`,
    limits: { diskMb: 1, timeoutMs: 15_000, cpuMs: 15_000 },
    expect: { verdict: ['disk-exceeded', 'memory-exceeded', 'python-error', 'killed'] },
    expectInLandlock: { verdict: 'disk-exceeded', details: { limitMb: 1 } },
  }),
  bomb({
    name: 'disk: shared memory without a name',
    code: `${FOLDER}\n${py`
      blocks = []
      for number in range(64):
          blocks.append(shared_memory.SharedMemory(create=True, size=4 << 20))
          blocks[-1].unlink()
          for position in range(0, 4 << 20, 4096): blocks[-1].buf[position] = 1
          time.sleep(0.02)
      os.write(1, b"BREACH\n")
      os._exit(0)
    `}`,
    limits: { diskMb: 8 },
    expect: { verdict: ['killed', 'disk-exceeded'] },
    expectInLandlock: diskExceeded,
  }),
  bomb({
    name: 'disk: shared memory that is mapped, deleted and closed',
    code: `${FOLDER}\n${py`
      _libc.mmap.restype, _libc.mmap.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
      for number in range(64):
          fd = _posixshmem.shm_open(f"/gone-{number}", os.O_RDWR | os.O_CREAT, mode=0o600)
          os.ftruncate(fd, 4 << 20)
          address = _libc.mmap(None, 4 << 20, 3, 1, fd, 0)
          os.close(fd)
          _posixshmem.shm_unlink(f"/gone-{number}")
          ctypes.memset(address, 1, 4 << 20)
          time.sleep(0.02)
      print("BREACH")
    `}`,
    limits: { diskMb: 8 },
    expect: { verdict: ['killed', 'disk-exceeded'] },
    expectInLandlock: diskExceeded,
  }),
];
