import multiprocessing as mp
def double(n):
    return 2 * n
if __name__ == "__main__":
    with mp.get_context("forkserver").Pool(2) as pool:
        print(pool.map(double, [1, 2, 3]))
