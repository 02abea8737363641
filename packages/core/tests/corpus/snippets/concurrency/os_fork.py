import os, sys
print("before", flush=True)
pid = os.fork()
if pid == 0:
    print("child", os.getppid() != os.getpid(), flush=True)
    os._exit(7)
_, status = os.waitpid(pid, 0)
print("parent", os.waitstatus_to_exitcode(status), os.WEXITSTATUS(status))
