import sys, threading
def show():
    print(open("/proc/self/cmdline", "rb").read(), open("/proc/self/comm").read().strip())
show()
thread = threading.Thread(target=show, name="worker")
thread.start()
thread.join()
print(sys.orig_argv, threading.main_thread().name)
