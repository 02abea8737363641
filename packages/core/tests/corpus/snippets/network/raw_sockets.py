import select, socket
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", 0))
server.listen()
client = socket.create_connection(server.getsockname())
connection, address = server.accept()
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
client.sendall(b"ping")
print(connection.recv(10), address[0], select.select([client], [], [], 0), connection.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE))
connection.sendall(b"pong"); print(client.recv(10))
for one in (client, connection, server): one.close()
try:
    socket.create_connection(server_address := ("127.0.0.1", 1), timeout=2)
except OSError as error:
    print(type(error).__name__, error)
