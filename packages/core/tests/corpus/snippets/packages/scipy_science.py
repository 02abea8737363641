# packages: ["scikit-learn"]
import numpy as np
from scipy import integrate, optimize, stats
print(optimize.minimize(lambda v: (v[0] - 3) ** 2, [0.0]).x.round(4), integrate.quad(np.sin, 0, np.pi)[0], stats.norm.cdf(1.96).round(6))
