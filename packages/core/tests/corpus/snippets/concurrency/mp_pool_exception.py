from multiprocessing import Pool
def inverse(n):
    return 1 / n
if __name__ == "__main__":
    with Pool(2) as pool:
        print(pool.map(inverse, [1, 0]))
