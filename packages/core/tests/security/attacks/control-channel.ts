import { FIND_CHANNEL } from '../../../../../tests/fixtures/hostile/find-channel.mjs';
import { type Attack, bomb, fixture, py } from '../attack.js';

/** Forging, breaking and stealing the channel to the supervisor. */
export const CONTROL_CHANNEL: Attack[] = [
  {
    name: 'writes garbage to every descriptor',
    code: py`
      import random
      garbage = random.Random(1).randbytes(4096)
      for fd in range(3, 4096):
          try:
              os.set_blocking(fd, False)
              os.write(fd, garbage)
          except OSError:
              pass
      os._exit(7)
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'writes endless frames to every descriptor',
    code: py`
      end = time.time() + 0.4
      while time.time() < end:
          for fd in range(3, 4096):
              try:
                  os.set_blocking(fd, False)
                  os.write(fd, b"\xff\xff\xff\xff" + b"{" * 65536)
              except OSError:
                  pass
      os._exit(7)
    `,
    expect: { verdict: ['exited', 'output-exceeded'] },
  },
  {
    name: 'claims a length of 4 GB and sends nothing more',
    code: py`
      for fd in range(3, 4096):
          try:
              os.write(fd, b"\xff\xff\xff\xf0")
          except OSError:
              pass
      os._exit(7)
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'forges an outcome and then exits with 7',
    code: `${fixture('forge.py')}\nforge()\nos._exit(7)\n`,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'forges an outcome and goes on running',
    code: `${fixture('forge.py')}\nforge()\ntime.sleep(60)\n`,
    limits: { timeoutMs: 500 },
    expect: { verdict: 'timed-out' },
  },
  {
    name: 'forges an outcome and uses up the memory',
    code: `${fixture('forge.py')}\nforge()\nblock = b"x" * (1 << 29)\ntime.sleep(5)\n`,
    harmful: true,
    limits: { memoryMb: 64 },
    expect: { verdict: 'memory-exceeded' },
  },
  {
    name: 'forges an outcome from a child',
    code: `${fixture('forge.py')}\nos.waitpid(spawn(forge), 0)\nraise ValueError("real")\n`,
    // A channel with foreign words on it may be believed no more; that the script failed is known from its status.
    expect: { verdict: ['python-error', 'exited'] },
  },
  {
    name: 'forges its usage',
    code: `${fixture('forge.py')}\nblock = b"x" * (100 << 20)\ntime.sleep(0.2)\nforge()\n`,
    expect: { verdict: ['ok', 'exited', 'internal'], minPeakMemoryMb: 95 },
  },
  {
    name: 'forges a report of four megabytes',
    code:
      FIND_CHANNEL +
      py`
      import json
      text = "x" * 1_000_000
      about = {"exception": {"type": text, "message": text, "line": 1, "column": 1, "text": None, "traceback": text,
               "missingModule": None, "isMemoryError": False, "errno": None}}
      body = json.dumps(about).encode()
      os.write(REPORT, len(body).to_bytes(4, "big") + b"R")
      while body:
          body = body[os.write(REPORT, body):]
      os._exit(1)
    `,
    // judge.ts bounds the size of every outcome.
    expect: { verdict: ['exited', 'python-error'] },
  },
  {
    name: 'forges a value nested a million deep',
    code:
      FIND_CHANNEL +
      py`
      body = b'{"value":{"type":"list","repr":"[]","json":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}}"
      os.write(REPORT, len(body).to_bytes(4, "big") + b"R")
      while body:
          body = body[os.write(REPORT, body):]
      os._exit(0)
    `,
    // A report that long is not taken: the forger is left with a closed pipe.
    expect: { verdict: ['ok', 'exited', 'python-error'] },
  },
  {
    name: 'forges a good end whose value is nested three thousand deep',
    code:
      FIND_CHANNEL +
      py`
      body = b'{"value":{"type":"list","repr":"[]","json":' + b"[" * 3000 + b"]" * 3000 + b"}}"
      os.write(REPORT, len(body).to_bytes(4, "big") + b"D" + body)
      time.sleep(5)
    `,
    // judge.ts writes every outcome down.
    expect: { verdict: 'ok' },
  },
  {
    name: 'forges a report with strange keys and numbers',
    code:
      FIND_CHANNEL +
      py`
      body = (b'{"__proto__":{"kind":"ok"},"constructor":{"prototype":{"kind":"ok"}},"exception":{"type":{},"line":1e999,'
              b'"column":-0.5,"errno":28,"isMemoryError":true,"message":null}}')
      os.write(REPORT, len(body).to_bytes(4, "big") + b"R" + body)
      os._exit(7)
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'asks for the supervisor without end and never listens',
    long: true,
    // Each question is answered on the pipe that the job came through, until that pipe is full.
    code:
      FIND_CHANNEL +
      py`
      import fcntl
      try:
          fcntl.fcntl(JOB, 1031, 4096)  # F_SETPIPE_SZ: full soon
      except PermissionError:
          pass
      end = time.time() + 10
      while time.time() < end:
          try:
              os.write(REPORT, b"\x00\x00\x00\x00T" * 800)
          except BrokenPipeError:
              time.sleep(10)
    `,
    limits: { timeoutMs: 1000 },
    expect: { verdict: ['timed-out', 'cpu-exceeded'] },
  },
  {
    name: 'sends small frames without end, which cost the supervisor more than the sender',
    code:
      FIND_CHANNEL +
      py`
      end = time.time() + 20
      try:
          while time.time() < end:
              os.write(REPORT, b"\x00\x00\x00\x00Z" * 800)
      except BrokenPipeError:
          print("nobody listens")
    `,
    limits: { timeoutMs: 3000 },
    expect: { verdict: 'ok', stdout: 'nobody listens\n' },
  },
  {
    name: 'asks for the supervisor and is gone',
    code:
      FIND_CHANNEL +
      py`
      os.write(REPORT, b"\x00\x00\x00\x00T" * 800)
      os._exit(7)
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'closes the pipe that the supervisor answers on, then fails',
    code:
      FIND_CHANNEL +
      py`
      os.close(JOB)
      raise ValueError("real")
    `,
    expect: { verdict: ['python-error', 'exited'] },
  },
  {
    name: "calls the worker's own functions to report success",
    code: fixture('call_the_worker.py'),
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'reads what the server says on the channel',
    code: py`
      import select
      for fd in range(3, 4096):
          try:
              os.set_blocking(fd, False)
              data = os.read(fd, 65536)
          except OSError:
              continue
          if data and b"PUNGI" + b"-CANARY" in data:
              print("BREACH", fd, data[:100])
      print("read", flush=True)
      os._exit(0)
    `,
    expect: { verdict: 'ok', stdout: 'read\n' },
  },
  {
    name: 'closes every descriptor and ends',
    code: 'import os\nprint("before", flush=True)\nos.closerange(0, 4096)\n',
    bare: true,
    expect: { verdict: 'ok', stdout: 'before\n' },
  },
  {
    name: 'closes every descriptor and fails',
    code: 'import os\nos.closerange(0, 4096)\nraise ValueError("unheard")\n',
    bare: true,
    // Nobody can hear which exception it was; that it failed must still be known.
    expect: { verdict: ['python-error', 'exited'] },
  },
  {
    name: 'closes every descriptor and goes on',
    code: 'import os, time\nos.closerange(0, 4096)\ntime.sleep(60)\n',
    bare: true,
    limits: { timeoutMs: 500 },
    expect: { verdict: 'timed-out' },
  },
  {
    name: 'puts a pipe in the place of every descriptor',
    code: py`
      receive, send = os.pipe()
      for fd in range(0, 4096):
          if fd not in (receive, send):
              try:
                  os.dup2(send, fd)
              except OSError:
                  pass
      os._exit(7)
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'puts /dev/null in the place of stdout and stderr',
    code: py`
      null = os.open("/dev/null", os.O_RDWR)
      print("before", flush=True)
      os.dup2(null, 1)
      os.dup2(null, 2)
      print("after", flush=True)
    `,
    expect: { verdict: 'ok', stdout: 'before\n' },
  },
  {
    name: 'shuts the channel down in both directions',
    code: py`
      import socket
      for fd in range(3, 4096):
          try:
              socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
          except OSError:
              pass
      os._exit(7)
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'passes descriptors over the channel',
    code: py`
      import socket
      file = os.open("own", os.O_CREAT | os.O_RDWR)
      for fd in range(3, 4096):
          try:
              channel = socket.socket(fileno=os.dup(fd))
              channel.setblocking(False)
              socket.send_fds(channel, [b"\x00\x00\x00\x02{}"], [file] * 100)
          except OSError:
              pass
      os._exit(7)
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'forks, and parent and child both run to the end',
    code: py`
      os.fork()
      print("one of two", flush=True)
    `,
    expect: { verdict: 'ok', stdout: /^(one of two\n){1,2}$/ },
  },
  {
    name: 'forks, and the child fails after the parent has ended',
    code: py`
      if os.fork() == 0:
          time.sleep(0.1)
          raise ValueError("from the child")
      print("parent")
    `,
    expect: { verdict: 'ok', stdout: 'parent\n' },
  },
  {
    name: 'forks, and only the child goes on while the parent exits with 7',
    code: py`
      if os.fork() != 0:
          os._exit(7)
    `,
    expect: { verdict: 'exited', details: { status: 7 } },
  },
  {
    name: 'patches builtins, json, os and socket, then fails',
    code: fixture('patch_everything.py'),
    // The worker may have kept its own copies (python-error) or break on the patched ones (exited); never ok.
    expect: { verdict: ['python-error', 'exited'] },
  },
  {
    name: 'empties sys.modules and builtins, then fails',
    code: py`
      import builtins
      error = ValueError("real")
      sys.modules.clear()
      builtins.__dict__.clear()
      raise error
    `,
    expect: { verdict: ['python-error', 'exited'] },
  },
  {
    name: 'traces the worker itself and swallows its work',
    code: py`
      import threading
      def tracer(frame, event, argument):
          if frame.f_code.co_filename != "main.py" and event == "call":
              raise SystemExit(0)
          return tracer
      sys.setprofile(tracer)
      sys.settrace(tracer)
      raise ValueError("real")
    `,
    // A script that ends the process with status 0 on its own account has ended ok.
    expect: { verdict: ['python-error', 'exited', 'ok'] },
  },
  bomb({
    name: 'fills the pipe that its job came through, and then grows',
    // A supervisor that waits for room in it holds no limit any more.
    code:
      FIND_CHANNEL +
      py`
      pipe = os.open(f"/proc/self/fd/{JOB}", os.O_WRONLY | os.O_NONBLOCK)
      for size in (4096, 1):
          try:
              while True:
                  os.write(pipe, b"x" * size)
          except BlockingIOError:
              pass
      os.write(REPORT, b"\x00\x00\x00\x00T")
      time.sleep(0.1)
      blocks = [b"x" * (1 << 20) for _ in range(300)]
      print("BREACH")
    `,
    limits: { timeoutMs: 3000, memoryMb: 64 },
    expect: { verdict: 'memory-exceeded', stdout: '' },
  }),
  bomb({
    name: 'drains its own output before the supervisor can read it, and then grows',
    code: py`
      pipe = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
      end = time.time() + 0.3
      while time.time() < end:
          os.write(1, b"x")
          try:
              os.read(pipe, 4096)
          except BlockingIOError:
              pass
      blocks = [b"x" * (1 << 20) for _ in range(300)]
      print("BREACH")
    `,
    limits: { timeoutMs: 3000, memoryMb: 64 },
    expect: { verdict: 'memory-exceeded' },
  }),
  bomb({
    name: 'says that it has finished without end, and goes on',
    code:
      FIND_CHANNEL +
      py`
      def flood():
          while True:
              os.write(REPORT, b"\x00\x00\x00\x00D" * 13000)
      spawn(flood)
      blocks = [b"x" * (1 << 20) for _ in range(300)]
      time.sleep(9)
      os.write(1, b"BREACH\n")
    `,
    limits: { timeoutMs: 1500, memoryMb: 64 },
    expect: { verdict: ['memory-exceeded', 'timed-out', 'ok'], stdout: '' },
  }),
];
