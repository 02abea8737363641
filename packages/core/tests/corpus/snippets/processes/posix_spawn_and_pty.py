import os, pty
pid = os.posix_spawn("/bin/echo", ["echo", "spawned"], os.environ)
print(os.waitpid(pid, 0)[1])
leader, follower = pty.openpty()
os.write(follower, b"to the terminal")
print(os.isatty(follower), os.read(leader, 100))
