import socket
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); receiver.bind("d.sock")
sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
print(sender.sendto(b"dgram", "d.sock"), receiver.recv(10))
sender.close(); receiver.close()
