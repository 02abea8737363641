import gc, tracemalloc, sys
print(gc.isenabled(), gc.get_threshold()[0] > 0, gc.get_debug(), gc.callbacks, tracemalloc.is_tracing(), gc.garbage)
tracemalloc.start()
data = [bytes(1000) for _ in range(100)]
top = tracemalloc.take_snapshot().statistics("lineno")[0]
print(top.traceback[0].filename.endswith("main.py"), top.traceback[0].lineno, top.count >= 100)
tracemalloc.stop()
print(gc.get_freeze_count() >= 0, sys.gettrace(), sys.getprofile(), gc.is_tracked([]))
