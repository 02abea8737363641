import os, resource, time
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_maxrss > 0, usage.ru_utime >= 0, time.process_time() < 5, os.times().children_user)
print(resource.getrlimit(resource.RLIMIT_STACK)[0] != 0, resource.getpagesize(), os.sysconf("SC_PAGE_SIZE"), os.getpriority(os.PRIO_PROCESS, 0))
resource.setrlimit(resource.RLIMIT_NOFILE, (20, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
files = []
try:
    while True: files.append(open("main.py"))
except OSError as error: print(len(files), error)
