import os
r, w = os.pipe()
if os.fork() == 0:
    os.close(r)
    os.write(w, b"through the pipe")
    os._exit(0)
os.close(w)
print(os.read(r, 100), os.wait()[1], os.get_inheritable(r))
