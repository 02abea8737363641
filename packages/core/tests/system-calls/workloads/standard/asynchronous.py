"""asyncio, selectors, sockets: streams, subprocesses, signals, TLS contexts, HTTP on the own loopback."""
import asyncio, http.server, os, select, selectors, signal, socket, socketserver, ssl, sys, tempfile, threading, urllib.request


async def talk():
    async def answer(reader, writer):
        writer.writelines([await reader.readline(), b"second\n"])
        await writer.drain()
        writer.close()

    for start, connect in (
        (lambda: asyncio.start_server(answer, "127.0.0.1", 0), lambda name: asyncio.open_connection(*name)),
        (lambda: asyncio.start_unix_server(answer, "socket"), lambda name: asyncio.open_unix_connection("socket")),
    ):
        server = await start()
        reader, writer = await connect(server.sockets[0].getsockname())
        writer.write(b"first\n")
        assert await reader.read() == b"first\nsecond\n"
        writer.close()
        server.close()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=("127.0.0.1", 0))
    transport.sendto(b"x", transport.get_extra_info("sockname"))
    transport.close()


async def send_file():
    content = os.urandom(300_000)
    with open("file", "wb") as file:
        file.write(content)
    for use_loop in (True, False):
        here, there = socket.socketpair()
        received = []
        reader = threading.Thread(target=lambda: received.extend(iter(lambda: there.recv(65536), b"")))
        reader.start()
        with open("file", "rb") as file:
            if use_loop:
                here.setblocking(False)
                await asyncio.get_running_loop().sock_sendfile(here, file)
            else:
                await asyncio.to_thread(here.sendfile, file)
        here.close()
        reader.join()
        assert b"".join(received) == content


async def main():
    process = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    assert (await process.communicate(b"through cat"))[0] == b"through cat"
    shell = await asyncio.create_subprocess_shell("exit 3")
    assert await shell.wait() == 3
    assert await asyncio.gather(*(asyncio.to_thread(abs, -number) for number in range(3))) == [0, 1, 2]
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, done.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(done.wait(), 5)
    await asyncio.sleep(0.01)
    await send_file()
    if HAS_SOCKETS:
        await talk()


def serve():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"page")

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        assert opener.open(f"http://127.0.0.1:{server.server_port}/").read() == b"page"
        server.shutdown()
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            one = socket.socket(family, socket.SOCK_DGRAM)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            one.bind(("localhost", 0))
            one.sendto(b"x", one.getsockname())
            one.recvfrom(10), one.close()
        except OSError:
            pass
    with socket.socket() as one:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 5)
        one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), one.settimeout(0.1), one.connect_ex(("127.0.0.1", 1))
    socket.gethostname(), socket.gethostbyname("localhost"), socket.getaddrinfo("localhost", 80)


try:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        probe.listen()
        with socket.create_connection(probe.getsockname(), 1):
            HAS_SOCKETS = True
except OSError:
    HAS_SOCKETS = False
asyncio.run(main())
ssl.create_default_context()
here, there = socket.socketpair()
here.sendmsg([b"gathered"]) if HAS_SOCKETS else here.send(b"gathered")
assert there.recvmsg(20)[0] == b"gathered"
here.shutdown(socket.SHUT_RDWR)
for kind in (select.poll, select.epoll):
    watcher = kind()
    watcher.register(there, select.POLLIN)
    watcher.poll(0)
    watcher.unregister(there)
with selectors.DefaultSelector() as watcher:
    watcher.register(there, selectors.EVENT_READ)
    watcher.select(0)
select.select([there], [], [], 0)
if sys.version_info >= (3, 13):
    os.timerfd_create(1), os.eventfd(0)
elif sys.version_info >= (3, 10):
    os.eventfd_write(os.eventfd(0), 1)
if HAS_SOCKETS:
    serve()
print("ok")
