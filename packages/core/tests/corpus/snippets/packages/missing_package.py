# packages: ["numpy"]
import numpy
try:
    import surely_not_installed
except ImportError as error:
    print(error)
import numpy.nothing
