import { type Attack, bomb, py } from '../attack.js';

export const OUTPUT_BOMBS: Attack[] = [
  bomb({
    name: 'file descriptors',
    code: py`
      files = []
      try:
          for _ in range(5000):
              files.append(os.open("/dev/null", os.O_RDONLY))
      except OSError as error:
          kind = error.errno
      for file in files:
          os.close(file)
      print("BREACH" if len(files) > 64 else errno.errorcode[kind])
    `,
    limits: { openFiles: 64 },
    expect: { verdict: 'ok', stdout: 'EMFILE\n' },
  }),
  bomb({
    name: 'file descriptors in flight in sockets',
    code: py`
      import socket
      kept, sent, kind = [], 0, None
      try:
          while sent < 20_000:
              left, right = socket.socketpair()
              left.setblocking(False)
              socket.send_fds(left, [b"x"], [right.fileno()] * 50)
              sent += 50
              kept.append(left)
      except OSError as error:
          kind = error.errno
      kept.clear()
      print("BREACH" if kind is None else "stopped")
    `,
    limits: { openFiles: 64 },
    expect: { verdict: 'ok', stdout: 'stopped\n' },
  }),
  ...(['1', '2'] as const).map((fd) =>
    bomb({
      name: `endless output on ${fd === '1' ? 'stdout' : 'stderr'}`,
      code: py`
        block = b"y\n" * 32768
        for _ in range(8000):
            os.write(${fd}, block)
        os._exit(0)
      `,
      limits: { outputHardBytes: 4 << 20 },
      expect: { verdict: 'output-exceeded', details: { limitBytes: 4 << 20 } },
    }),
  ),
  bomb({
    name: 'endless empty lines',
    code: py`
      for _ in range(100_000_000):
          print()
    `,
    limits: { outputHardBytes: 1 << 18 },
    expect: { verdict: ['output-exceeded', 'cpu-exceeded'] },
  }),
  bomb({
    name: 'endless output of grandchildren that left the session',
    code: py`
      def child():
          os.setsid()
          if os.fork() == 0:
              signal.alarm(8)
              while True:
                  os.write(1, b"z" * 65536)
      os.waitpid(spawn(child), 0)
      time.sleep(5)
    `,
    limits: { outputHardBytes: 4 << 20 },
    expect: { verdict: 'output-exceeded' },
  }),
  {
    name: 'long output: the head and the tail are kept',
    code: py`
      print("head")
      for number in range(20_000):
          print("line", number)
      print("tail")
    `,
    limits: { outputBytes: 8192 },
    expect: {
      verdict: 'ok',
      stdout: /^head\n[\s\S]*\ntail\n$/,
      also: ({ stdout }) =>
        stdout.truncated && stdout.text.length < 10_000 && stdout.bytes > 200_000
          ? undefined
          : `truncated ${stdout.truncated}, kept ${stdout.text.length} of ${stdout.bytes}`,
    },
  },
  {
    name: 'a line of 100 MB',
    long: true,
    code: py`
      for _ in range(100):
          os.write(1, b"x" * (1 << 20)) == 1 << 20 or print("short")
    `,
    limits: { outputHardBytes: 150 << 20 },
    expect: {
      verdict: 'ok',
      also: ({ stdout }) => (stdout.bytes >= 100 << 20 ? undefined : `only ${stdout.bytes} bytes arrived`),
    },
  },
  {
    name: 'a line of 100 MB beyond the hard limit',
    code: 'import sys\nsys.stdout.write("x" * 100_000_000)\n',
    bare: true,
    expect: { verdict: ['output-exceeded', 'memory-exceeded'] },
  },
];
