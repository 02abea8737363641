import cProfile, io, pstats, timeit, tracemalloc
print(timeit.timeit("x + 1", setup="x = 1", number=1000) > 0, len(timeit.repeat("pass", number=10, repeat=3)))
def work(): return sum(range(1000))
profiler = cProfile.Profile(); profiler.runcall(work)
out = io.StringIO(); pstats.Stats(profiler, stream=out).sort_stats("name").print_stats()
print("function calls" in out.getvalue(), "main.py" in out.getvalue())
tracemalloc.start(); data = [bytes(1000) for _ in range(100)]
print(tracemalloc.get_traced_memory()[0] > 100_000, tracemalloc.take_snapshot().statistics("lineno")[0].traceback[0].filename.endswith("main.py"))
