import os, select, selectors, socket, subprocess, sys, time
chooser = selectors.DefaultSelector(); print(type(chooser).__name__)
left, right = socket.socketpair(); left.setblocking(False)
read, write = os.pipe(); os.set_blocking(read, False)
chooser.register(left, selectors.EVENT_READ, "socket"); chooser.register(read, selectors.EVENT_READ, "pipe")
print(chooser.select(0), len(chooser.get_map()), chooser.get_key(left).data)
os.write(write, b"to the pipe"); right.sendall(b"to the socket")
print(sorted((key.data, events) for key, events in chooser.select(1)), os.read(read, 100), left.recv(100))
try:
    os.read(read, 1)
except BlockingIOError as error:
    print(error)
right.close(); os.close(write)
print(sorted(key.data for key, _ in chooser.select(1)), left.recv(1), os.read(read, 1))
children = [subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({n} / 50); print({n})"], stdout=subprocess.PIPE) for n in range(3)]
chooser = selectors.PollSelector()
for child in children: chooser.register(child.stdout, selectors.EVENT_READ, child)
got = []
while chooser.get_map():
    for key, _ in chooser.select():
        data = os.read(key.fd, 100)
        if data: got.append(data)
        else: chooser.unregister(key.fileobj); key.fileobj.close(); key.data.wait()
print(sorted(got), select.select([], [], [], 0.01))
watch = select.epoll(); watch.register(left, select.EPOLLIN | select.EPOLLET); print([mask & select.EPOLLHUP != 0 for _, mask in watch.poll(1)])
chooser.register(-1, selectors.EVENT_READ)
