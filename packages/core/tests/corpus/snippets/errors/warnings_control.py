import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("one", RuntimeWarning)
    warnings.warn("two")
print([(str(w.message), w.category.__name__, w.lineno) for w in caught])
warnings.simplefilter("error")
warnings.warn("now an error")
