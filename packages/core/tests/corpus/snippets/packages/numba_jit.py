# packages: ["numba"]
# long: true
import numba, numpy as np
@numba.njit
def total(values):
    result = 0.0
    for value in values: result += value
    return result
@numba.njit(parallel=True)
def double(values):
    out = np.empty_like(values)
    for i in numba.prange(len(values)): out[i] = 2 * values[i]
    return out
print(total(np.arange(1000.0)), double(np.arange(5.0)))
