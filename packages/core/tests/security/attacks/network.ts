import { type Attack, fixture, py, refused } from '../attack.js';

/** The runner listens on every address named in `context`; judge.ts fails the row if anyone called. */
export const NETWORK: Attack[] = [
  refused(
    'connects by TCP to the host, the metadata service and the internet',
    py`
      import socket
      def connect(family, address):
          with socket.socket(family, socket.SOCK_STREAM) as client:
              client.settimeout(1)
              client.connect(address)
      away = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED, errno.EADDRNOTAVAIL)
      refuse("loopback", lambda: connect(socket.AF_INET, ("127.0.0.1", context["tcpPort"])), *away)
      refuse("any address", lambda: connect(socket.AF_INET, ("0.0.0.0", context["tcpPort"])), *away)
      refuse("loopback v6", lambda: connect(socket.AF_INET6, ("::1", context["tcpPort"])), *away)
      refuse("metadata", lambda: connect(socket.AF_INET, ("169.254.169.254", 80)), *away)
      refuse("internet", lambda: connect(socket.AF_INET, ("1.1.1.1", 443)), *away)
    `,
  ),
  refused(
    'connects by TCP without connect(): fast open',
    py`
      import socket
      def fast_open():
          with socket.socket() as client:
              client.settimeout(1)
              client.sendto(b"hello", socket.MSG_FASTOPEN, ("127.0.0.1", context["tcpPort"]))
      refuse("fast open", fast_open, errno.ENETUNREACH, errno.ECONNREFUSED, errno.EINPROGRESS)
    `,
  ),
  refused(
    'listens by TCP where others could call',
    py`
      import socket
      def listen(bind):
          with socket.socket() as server:
              if bind:
                  server.bind(("0.0.0.0", 0))
              server.listen()
              return server.getsockname()
      # In the namespace tier the loopback is the run's own, and there is no other interface.
      if context["tier"] == "landlock":
          refuse("bind", lambda: listen(True))
          refuse("listen", lambda: listen(False))
      elif (names := [name for _, name in socket.if_nameindex()]) != ["lo"]:
          breach(f"interfaces {names}")
    `,
  ),
  refused(
    'sends and receives by UDP',
    py`
      import socket
      def send(family, address):
          with socket.socket(family, socket.SOCK_DGRAM) as client:
              return client.sendto(b"hello", address)
      away = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL)
      # On a loopback of its own nobody hears it; the runner reports it if somebody does.
      own = context["tier"] == "namespace"
      for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")):
          address = (host, context["udpPort"])
          send(family, address) if own else refuse(host, lambda: send(family, address), *away)
      refuse("name server", lambda: send(socket.AF_INET, ("1.1.1.1", 53)), *away)
      refuse("multicast", lambda: send(socket.AF_INET, ("224.0.0.251", 5353)), *away)
    `,
  ),
  refused(
    'makes sockets of SCTP without naming it',
    py`
      import socket
      for family in (socket.AF_INET, socket.AF_INET6):
          refuse(f"{family!r}", lambda: socket.socket(family, socket.SOCK_SEQPACKET).close())
    `,
  ),
  refused(
    'resolves names',
    py`
      import socket
      try:
          breach(repr(socket.getaddrinfo("example.com", 443)))
      except OSError:
          pass
    `,
  ),
  refused(
    "connects to the host's unix sockets: by path and abstract",
    py`
      import socket
      def connect(kind, address):
          with socket.socket(socket.AF_UNIX, kind) as client:
              client.settimeout(1)
              client.connect(address)
              return address
      for address in [context["unixPath"], "\0" + context["abstractName"], "/run/dbus/system_bus_socket",
                      "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/systemd/private"]:
          for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
              # ECONNREFUSED: no such abstract name in this network namespace.
              refuse(f"{address} {kind}", lambda: connect(kind, address), errno.ENOENT, errno.ECONNREFUSED)
    `,
  ),
  refused("poses as a worker at the server's own sockets", fixture('pose_as_worker.py')),
  refused(
    'opens netlink, packet, raw, vsock and other sockets',
    py`
      import socket
      families = {"netlink": 16, "packet": 17, "vsock": 40, "alg": 38, "bluetooth": 31, "can": 29, "tipc": 30, "kcm": 41,
                  "xdp": 44, "rds": 21, "rxrpc": 33, "x25": 9, "ax25": 3, "appletalk": 5, "ieee802154": 36, "smc": 43,
                  "qipcrtr": 42, "nfc": 39, "phonet": 35, "pppox": 24, "llc": 26, "key": 15, "mctp": 45}
      for name, family in families.items():
          for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
              for protocol in (0, 4, 9, 12, 15, 16):
                  if (name, protocol, context["tier"]) == ("netlink", 0, "namespace"):
                      continue  # asks for interfaces; see "changes its network"
                  refuse(f"{name} {kind} {protocol}", lambda: socket.socket(family, kind, protocol))
      for family in (socket.AF_INET, socket.AF_INET6):
          for protocol in (1, 6, 17, 58, 255):
              refuse(f"raw {family} {protocol}", lambda: socket.socket(family, socket.SOCK_RAW, protocol))
          for protocol in (132, 262, 33):  # sctp, mptcp, dccp: not covered by a rule about TCP
              for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
                  def connect():
                      with socket.socket(family, kind, protocol) as client:
                          client.settimeout(1)
                          client.connect(("127.0.0.1" if family == socket.AF_INET else "::1", context["tcpPort"]))
                  refuse(f"{family} {kind} {protocol}", connect, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT,
                         errno.ENETUNREACH, errno.EADDRNOTAVAIL)
    `,
  ),
  refused(
    'talks to another run over shared names',
    // The victim tries to listen on UDP, TCP, an abstract name and a FIFO, and says so when anyone calls.
    py`
      import socket
      def send(family, kind, address):
          with socket.socket(family, kind) as client:
              client.settimeout(1)
              client.connect(address)
              client.send(b"hello")
      away = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.ECONNREFUSED, errno.ENOENT)
      for host in ("127.0.0.1", "0.0.0.0", "10.0.0.1"):
          refuse(f"tcp {host}", lambda: send(socket.AF_INET, socket.SOCK_STREAM, (host, 45678)), *away)
          if context["tier"] == "namespace" and host != "10.0.0.1":
              send(socket.AF_INET, socket.SOCK_DGRAM, (host, 45678))  # the victim says so if it hears this
          else:
              refuse(f"udp {host}", lambda: send(socket.AF_INET, socket.SOCK_DGRAM, (host, 45678)), *away)
      for address in ("\0pungi-victim", "/tmp/victim.sock", context["victim"]["cwd"] + "/victim.sock"):
          refuse(f"unix {address!r}", lambda: send(socket.AF_UNIX, socket.SOCK_STREAM, address), *away)
          refuse(f"unix datagram {address!r}", lambda: send(socket.AF_UNIX, socket.SOCK_DGRAM, address), *away)
      time.sleep(0.2)
    `,
    { victim: true },
  ),
];
