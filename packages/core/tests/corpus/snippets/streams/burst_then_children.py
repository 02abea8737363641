import multiprocessing
import os
import subprocess

for round in range(3):
    for number in range(3000):
        print("round", round, "line", number)
    print("before", flush=True)
    subprocess.run(["echo", "subprocess"])
    os.system("echo system")
    os.waitpid(os.posix_spawn("/bin/echo", ["echo", "spawned"], os.environ), 0)
    child = multiprocessing.get_context("fork").Process(target=print, args=("forked",))
    child.start()
    child.join()
