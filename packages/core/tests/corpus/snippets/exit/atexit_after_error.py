import atexit
atexit.register(print, "still runs")
raise RuntimeError("main failed")
