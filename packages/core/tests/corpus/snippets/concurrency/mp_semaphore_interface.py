import _multiprocessing, multiprocessing as mp, os, threading
def attempt(action, *arguments):
    try: print(action.__name__, action(*arguments))
    except Exception as error: print(action.__name__, type(error).__name__, error)
def make(*arguments): return type(_multiprocessing.SemLock(*arguments))
def twice(name):
    first = _multiprocessing.SemLock(1, 1, 1, name, False)
    try: _multiprocessing.SemLock(1, 1, 1, name, True)
    finally: _multiprocessing.sem_unlink(name)
if __name__ == "__main__":
    print(_multiprocessing.SemLock, _multiprocessing.flags, _multiprocessing.SemLock.SEM_VALUE_MAX)
    lock, recursive, bounded, counter = mp.Lock(), mp.RLock(), mp.BoundedSemaphore(2), mp.Semaphore(0)
    print(lock, recursive, bounded, counter)
    attempt(lock.release); attempt(recursive.release); attempt(bounded.release); attempt(counter.release)
    print(lock.acquire(), lock.acquire(False), lock.acquire(timeout=0.01), lock.acquire(True, -1), lock)
    threading.Thread(target=lock.release).start()
    print(lock.acquire(timeout=5))
    with recursive, recursive:
        print(recursive, recursive._semlock._count(), recursive._semlock._is_mine(), recursive._semlock._is_zero())
        thread = threading.Thread(target=lambda: (print(recursive.acquire(False)), attempt(recursive.release)))
        thread.start(); thread.join()
    print(recursive, counter.get_value(), bounded.get_value())
    inner = counter._semlock
    print(inner.kind, inner.maxvalue, type(inner.handle), inner.name, inner._get_value(), inner._is_zero())
    name = f"/snippet-{os.getpid()}"
    attempt(twice, name); attempt(_multiprocessing.sem_unlink, name); attempt(_multiprocessing.SemLock._rebuild, 0, 1, 1, name)
    attempt(make, 7, 1, 1, name, True); attempt(make, 1, -1, 1, name, True); attempt(make, 1, 2**31, 1, name, True)
    attempt(mp.Semaphore, -1); attempt(make, 1, 1, 1, "/a/b", True); attempt(_multiprocessing.sem_unlink, "/")
