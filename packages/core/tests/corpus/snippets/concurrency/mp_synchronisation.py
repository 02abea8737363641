import multiprocessing as mp
def child(event, semaphore, barrier, queue):
    event.wait()
    with semaphore:
        queue.put("child")
    barrier.wait()
if __name__ == "__main__":
    event, semaphore, barrier, queue = mp.Event(), mp.Semaphore(1), mp.Barrier(2), mp.SimpleQueue()
    p = mp.Process(target=child, args=(event, semaphore, barrier, queue))
    p.start(); event.set(); barrier.wait(); print(queue.get()); p.join()
    lock = mp.RLock()
    with lock, lock: print("locked twice", p.exitcode)
