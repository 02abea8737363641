from concurrent.futures import ThreadPoolExecutor, as_completed, wait
def square(n):
    if n == 3: raise ValueError("three")
    return n * n
with ThreadPoolExecutor(max_workers=4) as pool:
    futures = {pool.submit(square, n): n for n in range(5)}
    for future in sorted(as_completed(futures), key=futures.get):
        print(futures[future], future.exception() or future.result())
    print(list(pool.map(str, range(3))))
