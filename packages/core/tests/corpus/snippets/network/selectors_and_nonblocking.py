import selectors, socket
selector = selectors.DefaultSelector()
server = socket.create_server(("127.0.0.1", 0)); server.setblocking(False)
selector.register(server, selectors.EVENT_READ, "accept")
client = socket.create_connection(server.getsockname())
for key, events in selector.select(5):
    print(key.data, events, type(selector).__name__)
    connection, _ = server.accept()
    connection.setblocking(False)
    try:
        connection.recv(1)
    except BlockingIOError as error:
        print(error)
connection.close(); client.close(); server.close(); selector.close()
