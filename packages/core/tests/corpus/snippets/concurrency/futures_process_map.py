# long: true
import concurrent.futures as futures, math, multiprocessing, os
NUMBERS = [112272535095293, 112582705942171, 115280095190773, 1099726899285419]
def is_prime(n):
    return n > 1 and all(n % i for i in range(2, min(math.isqrt(n), 100_000) + 1))
def setup(offset):
    global added
    added = offset
def plus(n): return n + added
if __name__ == "__main__":
    with futures.ProcessPoolExecutor(2) as pool:
        for number, prime in zip(NUMBERS, pool.map(is_prime, NUMBERS, chunksize=2)):
            print(number, prime)
        print(pool.submit(os.getppid).result() == os.getpid())
    for method in ("fork", "spawn"):
        with futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method), initializer=setup, initargs=(10,)) as pool:
            print(method, list(pool.map(plus, range(4))))
