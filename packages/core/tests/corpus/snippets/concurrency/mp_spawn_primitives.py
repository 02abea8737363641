import multiprocessing as mp, os
def child(lock, recursive, semaphore, condition, event, barrier, queue, total, numbers):
    for _ in range(500):
        with lock, recursive: total.value += 1
    with semaphore: numbers[0] += 1.5
    event.wait()
    with condition: condition.notify_all()
    queue.put("from the child")
    barrier.wait()
if __name__ == "__main__":
    for method in ("spawn", "fork"):
        context = mp.get_context(method)
        lock, recursive, semaphore, condition = context.Lock(), context.RLock(), context.Semaphore(2), context.Condition()
        event, barrier, queue = context.Event(), context.Barrier(3), context.Queue()
        total, numbers = context.Value("i", 0), context.Array("d", 2)
        arguments = lock, recursive, semaphore, condition, event, barrier, queue, total, numbers
        children = [context.Process(target=child, args=arguments) for _ in range(2)]
        for each in children: each.start()
        with condition:
            event.set()
            print(method, condition.wait(30))
        print([queue.get() for _ in children])
        barrier.wait()
        for each in children: each.join()
        print(total.value, numbers[:], [each.exitcode for each in children])
        with context.Pool(2) as pool: print(pool.map(abs, range(-20, 0), chunksize=1))
