# packages: ["numpy"]
import numpy as np
from multiprocessing import Pool
def norm(seed):
    return float(np.random.default_rng(seed).normal(size=100).sum().round(6))
if __name__ == "__main__":
    with Pool(2) as pool:
        print(pool.map(norm, range(3)))
