import socket
with socket.socket() as server:
    try:
        server.bind(("0.0.0.0", 0))
        print("bound", server.getsockname()[0])
    except OSError as error:
        print(error)
with socket.socket() as one, socket.socket() as two:
    one.bind(("127.0.0.1", 0)); one.listen()
    try:
        two.bind(one.getsockname())
    except OSError as error:
        print(error)
