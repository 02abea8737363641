from multiprocessing import Pool, cpu_count, current_process
def square(n):
    return n * n
if __name__ == "__main__":
    with Pool(2) as pool:
        print(pool.map(square, range(5)), pool.apply(square, (9,)), list(pool.imap(square, [1, 2])), pool.starmap(pow, [(2, 3)]))
        result = pool.apply_async(square, (4,))
        print(result.get(timeout=20), sorted(pool.imap_unordered(square, [3, 1])))
    print(cpu_count() >= 1, current_process().name)
