import os, resource
done, ended = os.pipe()
pid = os.fork()
if pid == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.chdir("/"); os.umask(0)
    for fd in range(ended + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0]):
        try: os.close(fd)
        except OSError: pass
    os.write(1, b"daemon speaks\n")
    os._exit(0)
os.close(ended)
os.waitpid(pid, 0)
print(os.read(done, 1), done, ended)
for fd in range(3, 256):
    try: os.close(fd)
    except OSError: pass
print(open("main.py").fileno())
