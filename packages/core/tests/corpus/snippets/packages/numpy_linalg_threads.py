# packages: ["numpy"]
import numpy as np
np.random.seed(0)
m = np.random.rand(300, 300)
print(np.allclose(m @ np.linalg.inv(m), np.eye(300)), np.linalg.eigvalsh(m + m.T).shape, round(float(np.linalg.svd(m)[1][0]), 6))
