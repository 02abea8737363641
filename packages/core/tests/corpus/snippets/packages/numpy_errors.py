# packages: ["numpy"]
import numpy as np
try:
    np.zeros((2, 3)) @ np.zeros((2, 3))
except ValueError as error:
    print(error)
with np.errstate(all="raise"):
    try:
        np.float64(1) / np.float64(0)
    except FloatingPointError as error:
        print(error)
np.array([1, 2, 3]).reshape(2, 2)
