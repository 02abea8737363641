import multiprocessing as mp
def work(queue, n):
    queue.put((n, mp.current_process().name.split("-")[0]))
if __name__ == "__main__":
    queue = mp.Queue()
    processes = [mp.Process(target=work, args=(queue, n)) for n in range(3)]
    for p in processes: p.start()
    print(sorted(queue.get() for _ in processes))
    for p in processes: p.join()
    print([p.exitcode for p in processes], mp.active_children())
