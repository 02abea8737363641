import fcntl
with open("lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with open("lock") as other:
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            print("busy:", error)
    fcntl.flock(lock, fcntl.LOCK_UN)
    fcntl.lockf(lock, fcntl.LOCK_EX)
    print("locked")
