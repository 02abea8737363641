import { type Attack, bomb, fixture, py, refused } from './attack.js';

/** Gives a row proxied(), which sends bytes to the run's own proxy and gives all of the answer, and status() of a request. */
const TALK = py`
  import socket
  def proxied(*parts, patience=5):
      with socket.create_connection(("127.0.0.1", 3128), timeout=patience) as client:
          for part in parts:
              client.sendall(part if isinstance(part, bytes) else part.encode())
          answer = b""
          while data := client.recv(65536):
              answer += data
          return answer.decode("latin-1")
  def status(method, target, host=None, *more):
      host = host or target.removeprefix("http://").split("/")[0]
      try:
          answer = proxied("\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", "Connection: close", *more, "", ""]))
      except OSError as error:
          return type(error).__name__
      return answer.split(" ")[1] if answer.startswith("HTTP/1.") else answer[:50]
  allowed, forbidden = context["allowed"], context["tcpPort"]
  def expect(label, got, *wanted):
      if got not in wanted:
          breach(f"{label}: {got}")
  expect("the way that is open", status("GET", f"http://127.0.0.1:{allowed}/"), "200")
`;

const row = (name: string, code: string, more: Partial<Attack> = {}): Attack =>
  refused(name, `${TALK}\n${code}`, more);

/** Code that may reach one port of the host, by the proxy, tries to reach more. */
export const NETWORK_ATTACKS: readonly Attack[] = [
  row(
    'connects by TCP past the proxy',
    py`
      def connect(family, address, protocol=0):
          with socket.socket(family, socket.SOCK_STREAM, protocol) as client:
              client.settimeout(1)
              client.connect(address)
      away = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED, errno.EADDRNOTAVAIL, errno.EPROTONOSUPPORT,
              errno.ESOCKTNOSUPPORT, errno.ENOPROTOOPT)
      for protocol in (0, 132, 262):
          for port in (forbidden, allowed, 80, 443):
              refuse(f"loopback {port}", lambda: connect(socket.AF_INET, ("127.0.0.1", port), protocol), *away)
              refuse(f"any {port}", lambda: connect(socket.AF_INET, ("0.0.0.0", port), protocol), *away)
              refuse(f"loopback v6 {port}", lambda: connect(socket.AF_INET6, ("::1", port), protocol), *away)
              refuse(f"mapped {port}", lambda: connect(socket.AF_INET6, ("::ffff:127.0.0.1", port), protocol), *away)
      refuse("metadata", lambda: connect(socket.AF_INET, ("169.254.169.254", 80)), *away)
      refuse("internet", lambda: connect(socket.AF_INET, ("1.1.1.1", 443)), *away)
      refuse("the proxy's port elsewhere", lambda: connect(socket.AF_INET, ("1.1.1.1", 3128)), *away)
      def fast_open():
          with socket.socket() as client:
              client.sendto(b"hello", socket.MSG_FASTOPEN, ("127.0.0.1", forbidden))
      refuse("fast open", fast_open, *away)
    `,
  ),
  row(
    'sends by UDP and asks name servers',
    // What goes to its own loopback is sent, and arrives nowhere: the host's own port would tell.
    py`
      def send(family, address):
          with socket.socket(family, socket.SOCK_DGRAM) as client:
              client.sendto(b"hello", address)
              return "sent"
      for address in (("127.0.0.1", context["udpPort"]), ("127.0.0.53", 53)):
          send(socket.AF_INET, address)
      away = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL)
      for address in (("1.1.1.1", 53), ("224.0.0.251", 5353), ("255.255.255.255", 67), ("169.254.169.254", 53)):
          refuse(f"{address}", lambda: send(socket.AF_INET, address), *away)
      refuse("v6", lambda: send(socket.AF_INET6, ("2606:4700:4700::1111", 53)), *away)
      try:
          breach(repr(socket.getaddrinfo("example.com", 443)))
      except OSError:
          pass
    `,
  ),
  row(
    'opens raw and packet sockets, and changes its network',
    py`
      import fcntl, struct
      for family, kind in ((socket.AF_INET, socket.SOCK_RAW), (socket.AF_INET6, socket.SOCK_RAW), (17, socket.SOCK_RAW), (40, socket.SOCK_STREAM)):
          for protocol in (0, 1, 6, 255):
              refuse(f"{family} {kind} {protocol}", lambda: socket.socket(family, kind, protocol), errno.EPROTONOSUPPORT)
      with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
          refuse("down", lambda: fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 0)))
          refuse("address", lambda: fcntl.ioctl(any_socket, 0x8916, struct.pack("16sHH4s16x", b"lo", 2, 0, bytes([10, 0, 0, 1]))))
          refuse("transparent", lambda: any_socket.setsockopt(socket.SOL_IP, 19, 1))
      for name in ("ipv4/tcp_rmem", "ipv4/tcp_wmem", "ipv4/ip_forward", "ipv4/ip_unprivileged_port_start", "core/somaxconn"):
          hide(name, lambda: write(f"/proc/sys/net/{name}", b"4096 6291456 6291456"))
      for path in ("/proc/1/ns/net", "/proc/self/ns/net"):
          hide(path, lambda: syscall("setns", os.open(path, os.O_RDONLY), 0))
    `,
  ),
  row(
    'takes the port of the proxy for itself',
    py`
      def listen(port, option=None):
          with socket.socket() as server:
              if option:
                  server.setsockopt(socket.SOL_SOCKET, option, 1)
              server.bind(("127.0.0.1", port))
              server.listen()
              return server.getsockname()
      for port in (3128,):
          for option in (None, socket.SO_REUSEADDR, socket.SO_REUSEPORT):
              refuse(f"{port} {option}", lambda: listen(port, option), errno.EADDRINUSE)
      expect("still open", status("GET", f"http://127.0.0.1:{allowed}/"), "200")
    `,
  ),
  row(
    'looks for who answers at the proxy, to signal, trace or read it',
    py`
      others = sorted(int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid())
      if others[0] != 1 or len(others) > 2:  # its supervisor, and the template of its workers
          breach(f"sees {others}")
      for pid in [*range(2, 200), context["runnerPid"], *context["treePids"]]:
          if pid != os.getpid():
              refuse(f"signal {pid}", lambda: os.kill(pid, signal.SIGKILL), errno.ESRCH)
              hide(f"memory of {pid}", lambda: read(f"/proc/{pid}/mem"))
      for name in ("fd", "root", "cwd", "environ", "mem", "maps", "fdinfo", "ns/net"):
          hide(f"the supervisor's {name}", lambda: os.listdir(f"/proc/1/{name}") if name in ("fd", "root", "fdinfo") else read(f"/proc/1/{name}"))
      refuse("trace", lambda: syscall("ptrace", 16, 1, 0, 0))
      refuse("take a descriptor", lambda: syscall("pidfd_getfd", os.pidfd_open(1), 3, 0))
      expect("still open", status("GET", f"http://127.0.0.1:{allowed}/"), "200")
    `,
  ),
  row("poses at the server's own sockets", fixture('pose_as_worker.py')),
  row(
    "connects to the host's unix sockets",
    py`
      for address in [context["unixPath"], "\0" + context["abstractName"], *context["serverSockets"]]:
          for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
              def connect():
                  with socket.socket(socket.AF_UNIX, kind) as client:
                      client.settimeout(1)
                      client.connect(address)
              refuse(f"{address} {kind}", connect, errno.ENOENT, errno.ECONNREFUSED)
    `,
  ),
  row(
    'tells the proxy another name than its own',
    // The runner looks whether anything was recorded for another run.
    py`
      victim = context["victimCaller"]
      request = f"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"
      for line in (victim, "1.0", "worker.0", ""):
          answer = proxied(f"{line}\n{request}")
          if not answer.startswith("HTTP/1.1 400") and "403 Forbidden" not in answer:
              breach(f"{line}: {answer[:100]}")
      expect("a header", status("GET", "http://evil.example/", None, f"X-Caller: {victim}"), "403")
    `,
    { victim: true },
  ),
  row(
    "asks the proxy for the host's own services, in every spelling",
    py`
      hosts = ["127.0.0.1", "localhost", "LOCALHOST.", "0.0.0.0", "0", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.2",
               "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
               "169.254.169.254", "0xa9fea9fe", "2852039166", "[fd00:ec2::254]", "[::ffff:a9fe:a9fe]", "metadata.google.internal",
               "inside.example", "both.example", "mapped.example", "10.0.0.1", "192.168.0.1", "1.1.1.1", "example.com",
               "127.0.0.1.nip.io", "inside.example.", "INSIDE.example"]
      for host in hosts:
          for port in {forbidden, 80, 22}:
              expect(f"GET {host}:{port}", status("GET", f"http://{host}:{port}/latest/meta-data/"), "403", "400")
              expect(f"CONNECT {host}:{port}", status("CONNECT", f"{host}:{port}"), "403", "400")
    `,
  ),
  row(
    'hides where a request goes',
    py`
      here, there = f"127.0.0.1:{allowed}", f"127.0.0.1:{forbidden}"
      expect("host header", status("GET", f"http://{here}/", there), "400")
      expect("user", status("GET", f"http://{here}@{there}/", here), "400")
      expect("backslash", status("GET", f"http://{there}\\@{here}/", here), "400")
      expect("path", status("GET", "/", there), "400")
      expect("scheme", status("GET", f"https://{here}/", here), "400")
      expect("ftp", status("GET", f"ftp://{there}/", there), "400")
      expect("upgrade", status("GET", f"http://{here}/", here, "Upgrade: h2c", "Connection: upgrade"), "400")
      expect("trace", status("TRACE", f"http://{here}/", here), "400")
      expect("line break", status("GET", f"http://{here}/ HTTP/1.1\r\nHost: {there}\r\n\r\nGET http://{there}/", there), "400", "403")
      second = f"GET http://{there}/ HTTP/1.1\r\nHost: {there}\r\nConnection: close\r\n\r\n"
      first = f"GET http://{here}/ HTTP/1.1\r\nHost: {here}\r\n"
      expect("second request", proxied(f"{first}\r\n{second}").count("403 Forbidden"), 1)
      for framing in ("Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked, identity", "Transfer-Encoding:\x0bchunked",
                      "Content-Length: 0\r\nContent-Length: 9", "Content-Length: 0x9"):
          answer = proxied(f"{first}{framing}\r\n\r\n0\r\n\r\n{second}")
          if not answer.startswith("HTTP/1.1 400"):
              breach(f"{framing}: {answer[:80]}")
    `,
  ),
  row(
    'sends something else than TLS through a tunnel',
    py`
      here = f"127.0.0.1:{allowed}"
      begin = f"CONNECT {here} HTTP/1.1\r\nHost: {here}\r\n\r\n"
      for said in ("GET /tunnelled HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-x\r\n", b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", b"\x00" * 100, "*1\r\n$4\r\nPING\r\n"):
          answer = proxied(begin, said)
          if "tunnelled" in answer or not answer.startswith("HTTP/1.1 200 Connection established\r\n\r\n\x15"):
              breach(f"{said!r}: {answer[:100]!r}")
    `,
  ),
  row(
    'follows an allowed host to one that is not',
    py`
      from urllib.request import urlopen
      from urllib.error import HTTPError
      try:
          breach(repr(urlopen(f"http://127.0.0.1:{allowed}/redirect", timeout=5).read()))
      except HTTPError as error:
          expect("redirect", error.code, 403)
    `,
  ),
  row(
    'keeps connections open when it ends, in processes that stay behind',
    py`
      kept = []
      for _ in range(40):
          client = socket.create_connection(("127.0.0.1", 3128))
          client.sendall(f"GET http://127.0.0.1:{allowed}/hang HTTP/1.1\r\nHost: 127.0.0.1:{allowed}\r\n\r\n".encode())
          kept.append(client)
      def stay():
          os.setsid()
          while True:
              time.sleep(1)
      for _ in range(3):
          spawn(stay)
    `,
    { victim: true },
  ),
  row(
    'fills the connections of the proxy',
    py`
      kept = []
      for _ in range(300):
          client = socket.socket()
          client.setblocking(False)
          try:
              client.connect(("127.0.0.1", 3128))
          except BlockingIOError:
              pass
          kept.append(client)
      time.sleep(0.5)
    `,
    { victim: true, limits: { openFiles: 512 } },
  ),
  row(
    'is slow with its requests, on every connection',
    py`
      kept = [socket.create_connection(("127.0.0.1", 3128)) for _ in range(60)]
      for byte in f"GET http://127.0.0.1:{allowed}/".encode():
          for client in kept:
              client.sendall(bytes([byte]))
          time.sleep(0.01)
    `,
    { victim: true },
  ),
  bomb({
    name: 'fills the memory of the kernel and of the proxy with what nobody reads',
    code: `${TALK}\n${py`
      kept, sent = [], 0
      for _ in range(64):
          client = socket.create_connection(("127.0.0.1", 3128))
          client.sendall(f"POST http://127.0.0.1:{allowed}/hang HTTP/1.1\r\nHost: 127.0.0.1:{allowed}\r\nContent-Length: 9000000000\r\n\r\n".encode())
          client.setblocking(False)
          kept.append(client)
      end = time.monotonic() + 3
      while time.monotonic() < end:
          before = sent
          for client in kept:
              try:
                  sent += client.send(b"x" * 65536)
              except BlockingIOError:
                  pass
          if sent == before:
              time.sleep(0.05)
      if sent > 400 << 20:
          breach(f"{sent >> 20} MB were taken by nobody")
      done()
    `}`,
    expect: { verdict: ['ok', 'memory-exceeded'], stdout: /^(refused\n)?$/ },
    victim: true,
  }),
  bomb({
    name: 'opens and closes connections as fast as it can',
    code: `${TALK}\n${py`
      end = time.monotonic() + 2
      while time.monotonic() < end:
          client = socket.socket()
          client.settimeout(1)
          try:
              client.connect(("127.0.0.1", 3128))
              client.sendall(b"x")
          except OSError:
              pass
          client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
          client.close()
      done()
    `}`,
    expect: { verdict: 'ok', stdout: 'refused\n' },
    victim: true,
  }),
  row(
    'asks for more hosts than anybody needs',
    py`
      for number in range(1100):
          answer = status("GET", f"http://h{number}.example/")
          if answer != "403":
              break
      else:
          breach("was answered to the end")
    `,
    { victim: true, limits: { timeoutMs: 20_000, cpuMs: 15_000 } },
  ),
  row(
    'talks to another run that has a network',
    // The victim listens by UDP and on an abstract name, and says so when anyone calls.
    py`
      for family, kind, address in ((socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 45678)), (socket.AF_UNIX, socket.SOCK_DGRAM, "\0pungi-victim")):
          with socket.socket(family, kind) as client:
              try:
                  client.sendto(b"hello", address)
              except OSError:
                  pass
    `,
    { victim: true },
  ),
  {
    name: 'is ended by its time with a request on its way',
    code: `${TALK}\n${py`
      proxied(f"GET http://127.0.0.1:{allowed}/hang HTTP/1.1\r\nHost: 127.0.0.1:{allowed}\r\n\r\n", patience=60)
    `}`,
    limits: { timeoutMs: 1000 },
    expect: { verdict: 'timed-out' },
    victim: true,
  },
];
