import concurrent.futures as futures, threading
def work(n):
    if n == 3:
        raise ValueError(f"bad {n}")
    return n * n
def initialize(): threading.current_thread().ready = True
with futures.ThreadPoolExecutor(2, thread_name_prefix="pool", initializer=initialize) as pool:
    jobs = {pool.submit(work, n): n for n in range(5)}
    for job in sorted(futures.as_completed(jobs), key=jobs.get):
        print(jobs[job], job.exception() or job.result())
    print(pool.submit(lambda: threading.current_thread().name).result()[:5], pool.submit(lambda: threading.current_thread().ready).result())
    blocked, started = threading.Event(), threading.Barrier(3)
    def block(): started.wait(); blocked.wait()
    first, second = pool.submit(block), pool.submit(block)
    started.wait()
    third = pool.submit(work, 1)
    print(third.cancel(), third.cancelled(), first.cancel())
    done, waiting = futures.wait([first, third], timeout=0.01, return_when=futures.ALL_COMPLETED)
    print(len(done), len(waiting))
    try:
        first.result(timeout=0.01)
    except futures.TimeoutError as error:
        print(repr(error))
    blocked.set()
try:
    pool.submit(work, 1)
except RuntimeError as error:
    print(error)
with futures.ThreadPoolExecutor() as pool:
    print(list(pool.map(work, range(3), timeout=5)))
    list(pool.map(work, [3]))
