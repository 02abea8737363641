import multiprocessing as mp
def add(counter, array):
    for i in range(100):
        with counter.get_lock():
            counter.value += 1
    array[0] += 1
if __name__ == "__main__":
    counter, array = mp.Value("i", 0), mp.Array("d", [1.5, 2.5])
    processes = [mp.Process(target=add, args=(counter, array)) for _ in range(2)]
    [p.start() for p in processes]; [p.join() for p in processes]
    print(counter.value, list(array))
