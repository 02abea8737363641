import _posixshmem, os, subprocess, sys
from multiprocessing import shared_memory
def attempt(action, *arguments, **named):
    try: print(action(*arguments, **named))
    except Exception as error: print(type(error).__name__, str(error).replace(name, "NAME"))
name = f"snippet-{os.getpid()}"
if __name__ == "__main__":
    memory = shared_memory.SharedMemory(name, create=True, size=5000)
    print(memory.name == name, memory.size, bytes(memory.buf[:3]), oct(os.fstat(memory._fd).st_mode), os.get_inheritable(memory._fd))
    attempt(shared_memory.SharedMemory, name, create=True, size=10)
    code = f"from multiprocessing import shared_memory as s\nm = s.SharedMemory({name!r})\nm.buf[:3] = b'abc'\nprint(m.size)\nm.close()\n"
    quiet = "from multiprocessing import resource_tracker\nresource_tracker.register = lambda *a: None\n"
    ended = subprocess.run([sys.executable, "-c", quiet + code], capture_output=True, text=True)
    print(ended.stdout, ended.stderr, bytes(memory.buf[:3]))
    other = shared_memory.SharedMemory(name)
    memory.unlink()
    other.buf[4999] = 7
    print(memory.buf[4999])
    other.close(); memory.close()
    attempt(shared_memory.SharedMemory, name)
    attempt(_posixshmem.shm_unlink, f"/{name}")
    attempt(_posixshmem.shm_open, "/a/b", os.O_RDWR)
    attempt(_posixshmem.shm_open, "/", os.O_RDWR)
    attempt(_posixshmem.shm_open, "/" + "x" * 300, os.O_RDWR | os.O_CREAT)
    attempt(shared_memory.SharedMemory, create=True, size=0)
