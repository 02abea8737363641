# packages: ["numba"]
# long: true
import os
import numba
@numba.njit(cache=True)
def add(a, b): return a + b
print(add(1, 2), os.path.isdir("__pycache__"), any(name.endswith(".nbi") for name in os.listdir("__pycache__")))
