import os, subprocess, time
process = subprocess.Popen(["sh", "-c", "sleep 0.05 & echo started"], stdout=subprocess.PIPE, text=True)
print(process.stdout.readline().strip(), process.wait())
pid = os.fork()
if pid == 0:
    os._exit(0)
print(os.waitpid(pid, 0)[1], os.getpgid(0) == os.getpgrp(), os.getsid(0) == os.getsid(os.getpid()))
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError as error:
    print(error)
