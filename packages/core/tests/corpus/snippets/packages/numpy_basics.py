# packages: ["numpy"]
import numpy as np
a = np.arange(12).reshape(3, 4)
print(a, a.sum(axis=0), a[a % 2 == 0], a.T.shape, a.dtype, sep="\n")
rng = np.random.default_rng(42)
print(rng.integers(0, 10, 5), rng.normal(size=2).round(6), np.linalg.inv(np.array([[2.0, 1], [1, 3]])))
print(np.array([1, 2]) / 0)
