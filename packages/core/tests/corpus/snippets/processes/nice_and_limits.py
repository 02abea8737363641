import os, resource
print(os.nice(0) >= 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 1000, os.cpu_count() >= 1, len(os.sched_getaffinity(0)) >= 1)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print(resource.getrlimit(resource.RLIMIT_CORE), os.times().user >= 0, os.getloadavg()[0] >= 0)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
print(soft >= 256, hard >= soft)
