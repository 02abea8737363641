import multiprocessing as mp, signal
class Late(Exception): pass
def handle(number, frame): raise Late("the alarm")
def count(number, frame): seen.append(number)
seen = []
if __name__ == "__main__":
    lock = mp.Lock()
    lock.acquire()
    signal.signal(signal.SIGALRM, count)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    print(lock.acquire(timeout=0.2), seen == [signal.SIGALRM])
    signal.signal(signal.SIGALRM, handle)
    for wait in (lock.acquire, lambda: lock.acquire(timeout=30), mp.Queue().get, mp.Event().wait, mp.Semaphore(0).__enter__):
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try: wait()
        except Late as error: print(type(error), error)
    lock.release()
    print(lock.acquire(False))
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try: lock.acquire()
    except KeyboardInterrupt: print("interrupted")
