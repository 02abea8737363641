# packages: ["scikit-learn"]
from joblib import Memory, Parallel, delayed
def square(n): return n * n
print(Parallel(n_jobs=2)(delayed(square)(n) for n in range(5)))
print(Parallel(n_jobs=2, backend="threading")(delayed(square)(n) for n in range(3)))
memory = Memory("cache", verbose=0)
@memory.cache
def slow(x): print("computing"); return x + 1
print(slow(1), slow(1))
