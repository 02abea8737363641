import threading, time
def worker():
    time.sleep(0.05)
    raise RuntimeError("late error")
threading.Thread(target=worker, name="late").start()
