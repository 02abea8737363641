import linecache, os, sys, tracemalloc
def make(): return [str(n) * 10 for n in range(10_000)]
tracemalloc.start(5)
before = tracemalloc.take_snapshot()
kept = make()
after = tracemalloc.take_snapshot().filter_traces((tracemalloc.Filter(False, "<frozen importlib._bootstrap>"), tracemalloc.Filter(False, tracemalloc.__file__)))
top = after.compare_to(before, "lineno")[0]
frame = top.traceback[0]
print(os.path.basename(frame.filename), frame.lineno, linecache.getline(frame.filename, frame.lineno).strip(), top.count_diff > 9_000)
trace = after.statistics("traceback")[0].traceback
print(len(trace), [one.lineno for one in trace], trace.format())
print(tracemalloc.get_object_traceback(kept[0])[-1].lineno, tracemalloc.get_traceback_limit(), tracemalloc.get_traced_memory()[1] > 500_000)
tracemalloc.reset_peak()
after.dump("snapshot"); print(len(tracemalloc.Snapshot.load("snapshot").traces) > 9_000)
tracemalloc.stop(); print(tracemalloc.is_tracing(), tracemalloc.get_object_traceback(kept[0]), sys.getsizeof([]), sys.getsizeof("abc"))
