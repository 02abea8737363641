import socket
print(socket.has_ipv6)
with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as server:
    server.bind(("::1", 0)); server.listen()
    client = socket.create_connection(("::1", server.getsockname()[1]))
    connection, address = server.accept()
    client.send(b"six"); print(connection.recv(9), address[0])
    client.close(); connection.close()
