import socket, socketserver, threading
class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line[::-1])
with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.create_connection(server.server_address, timeout=10) as client:
        print(client.getpeername()[0], client.family.name)
        client.sendall(b"abc")
        client.shutdown(socket.SHUT_WR)
        print(client.recv(100))
    server.shutdown()
