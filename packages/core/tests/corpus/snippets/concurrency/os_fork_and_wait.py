import os, signal, sys, time
print("parent", flush=True)
children = []
for n in range(3):
    pid = os.fork()
    if pid == 0:
        os._exit(n)
    children.append(pid)
print(sorted(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children), flush=True)
read, write = os.pipe()
if (pid := os.fork()) == 0:
    os.close(read); os.write(write, f"{os.getppid() == int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid() > 0} {os.getpid() != os.getppid()}".encode()); sys.exit(7)
os.close(write); print(os.read(read, 100), os.wait4(pid, 0)[1] >> 8, flush=True)
if (pid := os.fork()) == 0:
    signal.pause()
os.kill(pid, signal.SIGSTOP); print(os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1]))
os.kill(pid, signal.SIGCONT); os.kill(pid, signal.SIGKILL)
ended, status = os.waitpid(pid, 0); print(os.WIFSIGNALED(status), os.WTERMSIG(status), flush=True)
if (pid := os.fork()) == 0:
    raise RuntimeError("in the child")
print(os.waitpid(pid, 0)[1] >> 8, flush=True)
received = []
signal.signal(signal.SIGCHLD, lambda *_: received.append(1))
if (pid := os.fork()) == 0:
    os.execvp("sh", ["sh", "-c", "exit 9"])
print(os.waitpid(pid, 0)[1] >> 8, received, flush=True)
os.register_at_fork(before=lambda: print("before", flush=True), after_in_parent=lambda: print("in parent", flush=True))
if (pid := os.fork()) == 0: os._exit(0)
os.waitpid(pid, 0)
os.waitpid(-1, 0)
