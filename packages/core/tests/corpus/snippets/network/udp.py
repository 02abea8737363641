import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(5)
    sender.sendto(b"datagram", receiver.getsockname())
    data, address = receiver.recvfrom(100)
    print(data, address[0], address == sender.getsockname() or address[1] > 0)
