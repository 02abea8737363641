import { type Attack, bomb, fixture, py } from '../attack.js';

const memoryExceeded = { verdict: 'memory-exceeded', details: { limitMb: 64 } } as const;

export const MEMORY_BOMBS: Attack[] = [
  bomb({
    name: 'memory in one shot',
    code: 'block = b"x" * (1 << 30)\nprint("BREACH", len(block))\n',
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory in one shot, far beyond the machine',
    code: 'block = bytearray(1 << 46)\nprint("BREACH")\n',
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory gradually',
    code: py`
      blocks = []
      for _ in range(1000):
          blocks.append(b"x" * (1 << 20))
          time.sleep(0.001)
      print("BREACH", len(blocks))
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory, catching every MemoryError',
    code: py`
      blocks = []
      deadline = time.time() + 5
      while len(blocks) < 1000 and time.time() < deadline:
          try:
              blocks.append(b"x" * (1 << 20))
          except MemoryError:
              time.sleep(0.01)
      print("BREACH" if len(blocks) > 100 else "stayed within", flush=True)
      os._exit(0)
    `,
    limits: { memoryMb: 64, timeoutMs: 2000 },
    // Where an rlimit says no before the supervisor does, the code may go on within its limit.
    expect: { verdict: ['memory-exceeded', 'timed-out'] },
  }),
  bomb({
    name: 'memory in children',
    code: py`
      def child():
          block = b"x" * (40 << 20)
          time.sleep(4)
      for _ in range(8):
          spawn(child)
      time.sleep(4)
      print("BREACH")
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory in an orphan, after the script has waited for nothing',
    code: py`
      def child():
          os.setsid()
          if os.fork() == 0:
              blocks = [b"x" * (1 << 20) for _ in range(500)]
              os.write(1, b"BREACH")
      os.waitpid(spawn(child), 0)
      time.sleep(4)
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory through the temporary folder',
    code: py`
      import tempfile
      with open(tempfile.gettempdir() + "/big", "wb", buffering=0) as file:
          for _ in range(256):
              file.write(b"x" * (1 << 20))
      print("BREACH")
    `,
    limits: { diskMb: 8 },
    expect: { verdict: 'disk-exceeded', details: { limitMb: 8 } },
  }),
  bomb({
    name: 'memory through multiprocessing.shared_memory',
    code: py`
      from multiprocessing import shared_memory
      blocks = []
      for _ in range(16):
          block = shared_memory.SharedMemory(create=True, size=32 << 20)
          for position in range(0, block.size, 4096):
              block.buf[position] = 1
          blocks.append(block)
      os.write(1, b"BREACH\n")
      os._exit(0)
    `,
    limits: { memoryMb: 64, diskMb: 8 },
    // A page beyond the size of /dev/shm is a SIGBUS.
    expect: { verdict: ['killed', 'memory-exceeded', 'disk-exceeded'] },
    expectInLandlock: { verdict: ['python-error', 'disk-exceeded', 'memory-exceeded'] },
  }),
  bomb({
    name: 'memory after making itself unreadable',
    code: py`
      _libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE, which may be refused
      def child():
          blocks = [b"x" * (1 << 20) for _ in range(40)]
          time.sleep(4)
      for _ in range(4):
          spawn(child)
      blocks = [b"x" * (1 << 20) for _ in range(500)]
      print("BREACH")
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory under a name that confuses readers of /proc',
    code: py`
      def child():
          _libc.prctl(15, b"x) R 1 (\n0 0 0", 0, 0, 0)  # PR_SET_NAME
          blocks = [b"x" * (1 << 20) for _ in range(500)]
          os.write(1, b"BREACH")
      spawn(child)
      time.sleep(4)
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
  bomb({
    name: 'memory in shared anonymous mappings, hidden by MADV_DONTNEED',
    code: fixture('hidden_shared_memory.py'),
    limits: { memoryMb: 64 },
    // They are files without a name, which count as disk.
    expect: { verdict: 'disk-exceeded' },
  }),
  bomb({
    name: 'memory in pipes and socket buffers',
    code: fixture('buffer_bomb.py'),
    limits: { memoryMb: 64, openFiles: 128 },
    expect: { verdict: ['ok', 'memory-exceeded'], stdout: /^(within the limits \d+ MB\n)?$/ },
  }),
  bomb({
    name: 'memory in socket buffers of many processes',
    code: fixture('buffer_bomb_in_children.py'),
    limits: { memoryMb: 64, openFiles: 128, processes: 32 },
    expect: { verdict: ['ok', 'memory-exceeded'], stdout: /^(within the limits \d+ MB\n)?$/ },
  }),
  bomb({
    name: 'memory in socket buffers of programs that cannot be read',
    code: fixture('buffer_bomb_unreadable.py'),
    limits: { memoryMb: 64, openFiles: 128, processes: 32 },
    expect: memoryExceeded,
    // What cannot be looked at may hide files as well.
    expectInLandlock: { verdict: ['memory-exceeded', 'disk-exceeded'] },
  }),
  bomb({
    name: 'memory in page tables',
    code: py`
      _libc.mmap.restype = ctypes.c_void_p
      _libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
      size = 100 << 30
      start = _libc.mmap(None, size, 1, 0x4022, -1, 0)  # readable, private, anonymous, not reserved
      _libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), 15)  # no huge pages
      for offset in range(0, size, 2 << 20):
          ctypes.string_at(start + offset, 1)
      time.sleep(1)
      print("BREACH")
    `,
    limits: { memoryMb: 64 },
    expect: memoryExceeded,
  }),
];
