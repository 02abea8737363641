"""Threads, multiprocessing by every start method, executors, queues, shared memory."""
import concurrent.futures, contextvars, multiprocessing as mp, os, queue, sched, socket, threading, time
from multiprocessing import shared_memory


def square(number):
    return number * number


def produce(results, lock, total, event, pipe):
    event.wait()
    with lock:
        total.value += 1
    results.put(os.getpid())
    pipe.send("done")


def use(method):
    context = mp.get_context(method)
    results, lock, total, event = context.Queue(), context.Lock(), context.Value("i", 0), context.Event()
    here, there = context.Pipe()
    children = [context.Process(target=produce, args=(results, lock, total, event, there)) for _ in range(2)]
    for child in children:
        child.start()
    event.set()
    assert [here.recv() for _ in children] == ["done", "done"] and len({results.get() for _ in children}) == 2
    for child in children:
        child.join()
    assert total.value == 2 and all(child.exitcode == 0 for child in children)
    with context.Pool(2) as pool:
        assert pool.map(square, range(4)) == [0, 1, 4, 9]
    barrier = context.Barrier(1)
    barrier.wait()
    context.Semaphore(1).acquire(), context.Condition(), context.Array("d", 10), context.SimpleQueue().put(1)


def main():
    total, lock = [0], threading.Lock()

    def work():
        for _ in range(1000):
            with lock:
                total[0] += 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == [8000]
    timer = threading.Timer(0.01, work)
    timer.start(), timer.join()
    threading.stack_size(1 << 20), threading.get_native_id(), threading.Event().wait(0.01)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(square, range(10))) == 285
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert sum(pool.map(square, range(10))) == 285
    for method in METHODS:
        use(method)
    block = shared_memory.SharedMemory(create=True, size=100_000)
    block.buf[:5] = b"hello"
    other = shared_memory.SharedMemory(block.name)
    assert bytes(other.buf[:5]) == b"hello"
    other.close(), block.close(), block.unlink()
    if HAS_SOCKETS:
        with mp.Manager() as manager:
            shared = manager.dict(a=1)
            shared["b"] = 2
            assert dict(shared) == {"a": 1, "b": 2}
    print("ok")


# Without a network namespace there are none but pairs, and managers and the fork server need others.
try:
    socket.socket(socket.AF_UNIX).close()
    HAS_SOCKETS = True
except OSError:
    HAS_SOCKETS = False
METHODS = ("fork", "spawn", "forkserver") if HAS_SOCKETS else ("fork", "spawn")
if __name__ == "__main__":
    main()
