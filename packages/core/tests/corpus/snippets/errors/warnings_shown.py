import warnings
def old():
    warnings.warn("old() is deprecated", DeprecationWarning, stacklevel=2)
warnings.warn("be careful")
old()
def library():
    warnings.warn("from a function", UserWarning)
library()
