import array, struct
from multiprocessing import Lock, Process, RawArray, Value, shared_memory
from multiprocessing.managers import SharedMemoryManager
def add(name, index, lock):
    memory = shared_memory.SharedMemory(name)
    with lock:
        for _ in range(100):
            (value,) = struct.unpack_from("q", memory.buf, 8 * index)
            struct.pack_into("q", memory.buf, 8 * index, value + 1)
    memory.close()
def double(numbers, total):
    with total.get_lock():
        for n in range(len(numbers)):
            numbers[n] *= 2
            total.value += numbers[n]
if __name__ == "__main__":
    lock = Lock()
    memory = shared_memory.SharedMemory(create=True, size=64)
    print(memory.size >= 64, len(memory.name) > 3, bytes(memory.buf[:64]) == bytes(64))
    processes = [Process(target=add, args=(memory.name, n % 2, lock)) for n in range(4)]
    for process in processes: process.start()
    for process in processes: process.join()
    print(array.array("q", bytes(memory.buf[:16])), [process.exitcode for process in processes])
    memory.close(); memory.unlink()
    try:
        shared_memory.SharedMemory(memory.name)
    except FileNotFoundError as error:
        print(error.errno, error.strerror)
    numbers, total = RawArray("i", [1, 2, 3]), Value("d", 0.5)
    process = Process(target=double, args=(numbers, total)); process.start(); process.join()
    print(list(numbers), total.value)
