import time
start, cpu = time.perf_counter(), time.process_time()
time.sleep(0.01)
print(0.009 < time.perf_counter() - start < 5, time.process_time() - cpu < 1, time.monotonic() > 0, time.time() > 1.7e9)
print(time.get_clock_info("monotonic").monotonic, time.thread_time() >= 0, time.time_ns() > 0)
print(time.gmtime(86400 * 365).tm_year, time.asctime(time.gmtime(0)))
