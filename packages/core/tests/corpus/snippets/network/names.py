import socket
print(socket.gethostbyname("localhost"), socket.getaddrinfo("127.0.0.1", 80, type=socket.SOCK_STREAM)[0][4])
print(socket.inet_aton("1.2.3.4"), socket.inet_ntop(socket.AF_INET6, bytes(15) + b"\1"), socket.htons(1))
print(socket.getservbyname("http"), socket.getservbyport(443), socket.getprotobyname("tcp"))
print(bool(socket.gethostname()), socket.gethostbyname(socket.gethostname()).startswith("127."))
