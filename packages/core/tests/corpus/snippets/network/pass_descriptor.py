import os, socket
a, b = socket.socketpair()
with open("file.txt", "w+") as file:
    file.write("shared"); file.flush()
    try:
        socket.send_fds(a, [b"x"], [file.fileno()])
        data, fds, _, _ = socket.recv_fds(b, 10, 1)
        print(data, os.pread(fds[0], 10, 0))
    except OSError as error:
        print(error)
a.close(); b.close()
