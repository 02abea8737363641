import queue, threading
tasks, results = queue.Queue(), queue.PriorityQueue()
def worker():
    while (item := tasks.get()) is not None:
        results.put((-item, f"item {item}"))
        tasks.task_done()
threads = [threading.Thread(target=worker) for _ in range(3)]
[t.start() for t in threads]
for n in range(5): tasks.put(n)
tasks.join()
for _ in threads: tasks.put(None)
[t.join() for t in threads]
print([results.get()[1] for _ in range(5)])
barrier = threading.Barrier(2)
t = threading.Thread(target=barrier.wait); t.start(); barrier.wait(); t.join()
try:
    queue.Queue().get_nowait()
except queue.Empty as error:
    print(repr(error))
