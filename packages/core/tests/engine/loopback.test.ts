import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { printed, publicInterpreter, sharedPungi, verdictOf } from './pungi.js';

/** Servers and clients of one script. Each prints the same as in plain Python. */
const TALKS: [name: string, code: string][] = [
  [
    'http.server',
    py`
      import http.server, threading, urllib.request
      class Handler(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              self.send_response(200)
              self.end_headers()
              self.wfile.write(self.path.encode())
          def log_message(self, *arguments): pass
      with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
          threading.Thread(target=server.serve_forever).start()
          print(urllib.request.urlopen(f"http://localhost:{server.server_port}/page").read())
          server.shutdown()
    `,
  ],
  [
    'asyncio streams, by name and by every kind of address',
    py`
      import asyncio
      async def answer(reader, writer):
          writer.write((await reader.readline()).upper())
          await writer.drain()
          writer.close()
      async def main():
          for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", None):
              server = await asyncio.start_server(answer, host, 0)
              reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
              writer.write(b"hello\n")
              print(host, await reader.read())
              writer.close()
              server.close()
      asyncio.run(main())
    `,
  ],
  [
    'socketserver, by TCP and UDP',
    py`
      import socket, socketserver, threading
      class Echo(socketserver.BaseRequestHandler):
          def handle(self):
              if isinstance(self.request, tuple):
                  self.request[1].sendto(self.request[0].upper(), self.client_address)
              else:
                  self.request.sendall(self.request.recv(100).upper())
      for kind, server_class in ((socket.SOCK_STREAM, socketserver.ThreadingTCPServer), (socket.SOCK_DGRAM, socketserver.ThreadingUDPServer)):
          with server_class(("127.0.0.1", 0), Echo) as server:
              threading.Thread(target=server.serve_forever).start()
              with socket.socket(socket.AF_INET, kind) as client:
                  client.connect(server.server_address)
                  client.send(b"hello")
                  print(client.recv(100))
              server.shutdown()
    `,
  ],
  [
    'xmlrpc',
    py`
      import threading, xmlrpc.client, xmlrpc.server
      with xmlrpc.server.SimpleXMLRPCServer(("localhost", 0), logRequests=False) as server:
          server.register_function(pow)
          threading.Thread(target=server.serve_forever).start()
          print(xmlrpc.client.ServerProxy("http://localhost:%d" % server.server_address[1]).pow(2, 5))
          server.shutdown()
    `,
  ],
  [
    'managers and listeners of multiprocessing',
    py`
      import threading
      from multiprocessing.connection import Client, Listener
      from multiprocessing.managers import BaseManager
      class Manager(BaseManager): pass
      Manager.register("numbers", lambda: [1, 2, 3])
      for address in (("127.0.0.1", 0), None):
          with Manager(address, b"key") as manager:
              print(manager.numbers().copy())
      for family in ("AF_INET", "AF_UNIX"):
          with Listener(None, family) as listener:
              thread = threading.Thread(target=lambda: listener.accept().send("from " + family))
              thread.start()
              with Client(listener.address) as client:
                  print(client.recv())
              thread.join()
    `,
  ],
  [
    'UDP of both versions, with the options of servers',
    py`
      import socket
      for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
          with socket.socket(family, socket.SOCK_DGRAM) as end:
              for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT, socket.SO_BROADCAST):
                  end.setsockopt(socket.SOL_SOCKET, option, 1)
              end.bind((host, 0))
              end.sendto(b"x" * 60000, end.getsockname())
              print(len(end.recv(65536)))
    `,
  ],
  [
    'create_server for both versions, and a port that is taken',
    py`
      import socket
      print(socket.has_dualstack_ipv6())
      with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
          port = server.getsockname()[1]
          for host in ("127.0.0.1", "::1"):
              with socket.create_connection((host, port)), server.accept()[0] as accepted:
                  print(accepted.getpeername()[0])
          try:
              socket.create_server(("", port), reuse_port=False)
          except OSError as error:
              print(error.errno)
      try:
          socket.create_connection(("127.0.0.1", port))
      except OSError as error:
          print(repr(error))
    `,
  ],
  [
    'names of hosts, services, protocols and interfaces',
    py`
      import socket
      print(socket.gethostname(), socket.gethostbyname("localhost"), socket.gethostbyname(socket.gethostname()).startswith("127."))
      print(socket.getservbyname("http"), socket.getservbyport(443), socket.getprotobyname("udp"))
      print(socket.getaddrinfo("127.0.0.1", "https", type=socket.SOCK_STREAM))
      print(socket.if_nameindex()[0], socket.if_nametoindex("lo"), socket.if_indextoname(1))
    `,
  ],
  [
    'a hundred connections that wait to be accepted',
    py`
      import socket
      with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
          clients = [socket.create_connection(server.getsockname()) for _ in range(100)]
          print(len([server.accept() for _ in clients]))
    `,
  ],
  [
    'much, in both directions at once',
    py`
      import hashlib, os, socket, threading
      text = os.urandom(1 << 20) * 8
      with socket.create_server(("127.0.0.1", 0)) as server:
          def echo():
              with server.accept()[0] as end:
                  while data := end.recv(1 << 16): end.sendall(data)
          threading.Thread(target=echo).start()
          with socket.create_connection(server.getsockname()) as client:
              threading.Thread(target=lambda: (client.sendall(text), client.shutdown(socket.SHUT_WR))).start()
              received = b"".join(iter(lambda: client.recv(1 << 16), b""))
      print(received == text)
    `,
  ],
];

describe('in the namespace tier', () => {
  const pungi = sharedPungi({ PUNGI_TIER: 'namespace', MAX_OPEN_FILES: '512' });

  test.each(TALKS)('%s works as in plain Python', async (_, code) => {
    const plain = execFileSync('python3', ['-c', code], { encoding: 'utf8' });
    expect(await printed(pungi, { code })).toBe(plain);
  });

  const AWAY: [name: string, code: string][] = [
    ['an address', 'import socket\nsocket.create_connection(("192.0.2.1", 80), 30)'],
    ['an address of version 6', 'import socket\nsocket.create_connection(("2001:db8::1", 80), 30)'],
    ['a name', 'import socket\nsocket.create_connection(("example.com", 80))'],
    ['a page', 'import urllib.request\nurllib.request.urlopen("http://example.com/")'],
  ];

  test.each(AWAY)('%s elsewhere is out of reach at once, and the hint says so', async (_, code) => {
    const outcome = await pungi.run({ code, limits: { timeoutMs: 10_000 } });
    expect(verdictOf(outcome, 'python-error').exception.hint).toMatch(
      /^The profile "default" has no network: pass the data .*profile that allows the host\.$/,
    );
  });

  test('a raw socket is refused, and the hint says what works', async () => {
    const outcome = await pungi.run({
      code: 'import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)',
    });
    expect(verdictOf(outcome, 'python-error').exception.hint).toContain('use TCP, UDP or unix sockets');
  });
});

describe('in the landlock tier', async () => {
  const pungi = sharedPungi({ PUNGI_TIER: 'landlock', PUNGI_PYTHON: await publicInterpreter() });

  test.each([
    'import socket\nsocket.create_server(("127.0.0.1", 0))',
    'import http.server\nhttp.server.HTTPServer(("", 0), None)',
    'import asyncio\nasyncio.run(asyncio.open_connection("127.0.0.1", 80))',
  ])('the hint to %j names the tier that has a loopback', async (code) => {
    const outcome = await pungi.run({ code });
    expect(verdictOf(outcome, 'python-error').exception.hint).toBe(
      'The landlock tier has no network, not even a loopback: the namespace tier gives each run its own, and "pungi doctor" says what it needs.',
    );
  });
});
