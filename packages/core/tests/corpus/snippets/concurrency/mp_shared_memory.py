from multiprocessing import Process, shared_memory
def write(name):
    memory = shared_memory.SharedMemory(name=name)
    memory.buf[:5] = b"hello"
    memory.close()
if __name__ == "__main__":
    memory = shared_memory.SharedMemory(create=True, size=10)
    process = Process(target=write, args=(memory.name,))
    process.start(); process.join()
    print(bytes(memory.buf[:5]), process.exitcode)
    memory.close(); memory.unlink()
    numbers = shared_memory.ShareableList([1, "two", 3.0])
    print(list(numbers))
    numbers.shm.close(); numbers.shm.unlink()
