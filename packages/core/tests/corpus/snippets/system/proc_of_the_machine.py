import os
print(len(os.listdir("/proc/self/task")), open("/proc/sys/kernel/ostype").read().strip())
print("/" in [line.split()[1] for line in open("/proc/mounts")], os.path.exists("/proc/1"), str(os.getpid()) in os.listdir("/proc"))
