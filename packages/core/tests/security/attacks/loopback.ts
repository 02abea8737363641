import { type Attack, bomb, py, refused } from '../attack.js';

const memoryExceeded = { verdict: 'memory-exceeded' } as const;
/** Without a network namespace there are no internet sockets at all. */
const noSockets = { verdict: 'python-error', exception: 'PermissionError' } as const;
const limits = { memoryMb: 64, openFiles: 2048, processes: 64, cpuMs: 15_000, timeoutMs: 15_000 };

/** Gives the code `server` and `connect()`: two ends of a connection on the loopback. */
const CONNECTIONS = py`
  import socket, struct
  server = socket.create_server(("127.0.0.1", 0), backlog=4096)
  kept = []
  def connect():
      client = socket.create_connection(server.getsockname())
      client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
      return client, server.accept()[0]
  def fill(end):
      end.setblocking(False)
      try:
          while end.send(b"x" * 65536): pass
      except BlockingIOError:
          pass
`;

/** Each takes far more than its limit unless it is ended. */
const bombOnLoopback = (name: string, code: string, more: Partial<Attack> = {}): Attack =>
  bomb({
    name,
    code: `${CONNECTIONS}\n${code}\ntime.sleep(2)\nprint("BREACH")\n`,
    limits,
    expect: memoryExceeded,
    expectInLandlock: noSockets,
    ...more,
  });

const fillsDatagrams = (family: string, address: string) => py`
  for _ in range(900):
      end = socket.socket(socket.${family}, socket.SOCK_DGRAM)
      end.bind(("${address}", 0))
      for _ in range(8):
          end.sendto(b"x" * 60_000, end.getsockname())
      kept.append(end)
`;

/** Every byte that nobody reads keeps the page that it was sent from, which the other connection fills up. */
const pins = (isReset: boolean): string => py`
  source, drain = connect()
  for _ in range(60):
      client, accepted = connect()
      client.setblocking(False)
      try:
          for _ in range(1300):
              client.send(b"x")
              source.sendall(b"x" * 32700)
              left = 32700
              while left: left -= len(drain.recv(left))
      except BlockingIOError:
          pass
      if ${isReset ? 'True' : 'False'}:
          client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
          client.close()
      kept.append((client, accepted))
`;

/** What a loopback of its own could hold, hide or leave. */
export const LOOPBACK: Attack[] = [
  bombOnLoopback(
    'fills connections of its loopback that it accepted',
    py`
      for _ in range(900):
          kept.append(connect())
          fill(kept[-1][0])
    `,
  ),
  bombOnLoopback(
    'fills connections of its loopback that nobody accepts',
    py`
      servers = [socket.create_server(("127.0.0.1", 0), backlog=4096) for _ in range(20)]
      for each in servers:
          for _ in range(100):
              client = socket.create_connection(each.getsockname())
              fill(client)
              client.close()
    `,
  ),
  bombOnLoopback(
    'closes connections that still have something to send',
    py`
      for _ in range(900):
          client, accepted = connect()
          fill(client)
          client.close()
          kept.append(accepted)
    `,
  ),
  bombOnLoopback('keeps pages by single bytes that nobody reads', pins(false)),
  bombOnLoopback('keeps pages by single bytes in connections that were reset', pins(true)),
  bombOnLoopback('fills UDP sockets', fillsDatagrams('AF_INET', '127.0.0.1')),
  bombOnLoopback('fills UDP sockets of version 6', fillsDatagrams('AF_INET6', '::1')),
  bombOnLoopback(
    'fills connections in many processes',
    py`
      def hoard():
          for _ in range(60):
              kept.append(connect())
              fill(kept[-1][0])
          time.sleep(5)
      children = [spawn(hoard) for _ in range(16)]
      for child in children: os.waitpid(child, 0)
    `,
  ),
  bomb({
    name: 'opens and closes connections without end',
    code: `${CONNECTIONS}\n${py`
      for _ in range(6000):
          client, accepted = connect()
          client.close()
          accepted.close()
      waiting = int(open("/proc/net/sockstat").read().split("tw ")[1].split()[0])
      print("BREACH" if waiting > 4096 else "within the limits")
    `}`,
    limits: { ...limits, memoryMb: 256 },
    expect: { verdict: 'ok', stdout: 'within the limits\n' },
    expectInLandlock: noSockets,
  }),
  refused(
    'gathers a datagram from single bytes, and makes buffers larger',
    py`
      import socket
      if context["tier"] == "namespace":
          with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
              end.bind(("127.0.0.1", 0))
              refuse("more", lambda: end.sendto(b"x", socket.MSG_MORE, end.getsockname()), errno.EOPNOTSUPP)
              refuse("more in a message", lambda: end.sendmsg([b"x"], [], socket.MSG_MORE, end.getsockname()), errno.EOPNOTSUPP)
              refuse("cork", lambda: end.setsockopt(socket.IPPROTO_UDP, 1, 1))
              for option in (socket.SO_RCVBUF, socket.SO_SNDBUF, 32, 33):
                  before = end.getsockopt(socket.SOL_SOCKET, option % 25)
                  try:
                      end.setsockopt(socket.SOL_SOCKET, option, 1 << 24)
                  except PermissionError:
                      pass
                  if end.getsockopt(socket.SOL_SOCKET, option % 25) != before:
                      breach(f"option {option}")
          with socket.socket() as end:
              refuse("a protocol above TCP", lambda: end.setsockopt(socket.IPPROTO_TCP, 31, b"tls"))
              refuse("zero copy", lambda: end.setsockopt(socket.SOL_SOCKET, 60, 1))
              refuse("a filter", lambda: end.setsockopt(socket.SOL_SOCKET, 26, bytes(16)))
              refuse("another congestion control", lambda: end.setsockopt(socket.IPPROTO_TCP, 13, b"reno"))
    `,
  ),
  refused(
    'changes its network by netlink',
    py`
      import socket, struct
      def request(kind, body):
          with socket.socket(16, socket.SOCK_RAW, 0) as route:
              route.settimeout(2)
              route.send(struct.pack("=IHHII", 16 + len(body), kind, 5, 1, 0) + body)
              length, kind, _, _, _, code = struct.unpack_from("=IHHIIi", route.recv(8192))
              if kind == 2 and code:
                  raise OSError(-code, os.strerror(-code))
              return kind
      link = struct.pack("=BxHiII", 0, 0, 1, 0, 1)
      refuse("lo down", lambda: request(16, link))
      refuse("a new link", lambda: request(16, struct.pack("=BxHiII", 0, 0, 0, 1, 1) + struct.pack("=HHHH8s", 16, 18, 12, 1, b"dummy")))
      refuse("an address", lambda: request(20, struct.pack("=BBBBi", 2, 8, 0, 0, 1) + struct.pack("=HH4s", 8, 2, bytes([10, 0, 0, 1]))))
      refuse("a route", lambda: request(24, struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 254, 3, 0, 1, 0)))
      for protocol in (*range(1, 23), 31):
          refuse(f"netlink {protocol}", lambda: socket.socket(16, socket.SOCK_RAW, protocol))
    `,
  ),
];
